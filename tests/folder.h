/* folder.h - a temporary folder of a test's own. */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

/* Make a new folder below TMPDIR, or /tmp; the same one again when asked again. Its path is valid
 * to the end. It is removed with all that is in it when the process exits that has made it,
 * whatever its checks say. Where there can be none the test ends at once. */
const char *folder_open(void);

/* The path of a file in it; valid until the next call. */
const char *folder_path(const char *name);

#endif
