/* limit.h - a wall-clock limit for scripts. */
#ifndef ENGINE_SCRIPT_LIMIT_H
#define ENGINE_SCRIPT_LIMIT_H

#include <stdint.h>

#include "engine/base/err.h"

/* Call expired from a signal handler (SIGALRM) once ns of real time have passed; it must be safe
 * there, and it should end the process: a script inside one long string function cannot be stopped
 * in any other way without tearing the state that it runs in. One limit at a time: a second start
 * replaces the first. */
int script_limit_start(int64_t ns, void (*expired)(void), struct err *err);

/* Nothing fires after this returns. */
void script_limit_stop(void);

#endif
