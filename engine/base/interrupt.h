/* interrupt.h - the flag that says the user wants to stop. */
#ifndef ENGINE_BASE_INTERRUPT_H
#define ENGINE_BASE_INTERRUPT_H

#include <stdbool.h>

/* SIGINT, SIGTERM and SIGHUP set the flag; a second signal ends the process at once with 130. */
void interrupt_install(void);

/* Long loops ask at least every 100 ms and return -EINTR. */
bool interrupt_is_pending(void);

#endif
