/* base_file.c - checks reading and writing whole files, and files in pieces. */
#include "engine/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file_writer.h"
#include "tests/folder.h"
#include "tests/tap.h"

enum { LIMIT_BYTES = 1 << 20 };

static int n_entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n - 2;
}

static void check_contents(const char *path, const char *want, const char *name)
{
	struct err err = {0};
	char *text = NULL;
	size_t n_bytes = 0;

	if (file_read(path, LIMIT_BYTES, &text, &n_bytes, &err))
		tap_is_str(err.text, "", "%s", name);
	else
		tap_is_str(text, want, "%s", name);
	free(text);
}

static void check_round_trip(void)
{
	struct err err = {0};
	struct stat about;
	char *text = NULL;
	size_t n_bytes = 0;

	umask(022);
	tap_is_int(file_write("a", "one\0two", 7, &err), 0, "a file is written");
	tap_is_int(file_read("a", LIMIT_BYTES, &text, &n_bytes, &err), 0, "and read");
	tap_ok(n_bytes == 7 && memcmp(text, "one\0two", 8) == 0,
	       "NULs inside are kept and counted");
	free(text);
	tap_ok(!stat("a", &about) && (about.st_mode & 07777) == 0644, "the umask is obeyed");
	chmod("a", 0600);
	tap_is_int(file_write("a", "", 0, &err), 0, "a file is emptied");
	check_contents("a", "", "and is empty");
	tap_ok(!stat("a", &about) && (about.st_mode & 07777) == 0600, "a file's mode is kept");
	tap_is_int(n_entries("."), 1, "nothing temporary is left");
	unlink("a");
}

static void check_limits(void)
{
	char *big = malloc(LIMIT_BYTES + 1), *text = NULL;
	struct err err = {0};
	size_t n_bytes = 0;

	memset(big, 'x', LIMIT_BYTES + 1);
	file_write("big", big, LIMIT_BYTES, &err);
	tap_is_int(file_read("big", LIMIT_BYTES, &text, &n_bytes, &err), 0,
	           "a file as long as the limit is read");
	tap_ok(n_bytes == LIMIT_BYTES && strlen(text) == LIMIT_BYTES, "all of it");
	free(text);
	text = NULL;
	file_write("big", big, LIMIT_BYTES + 1, &err);
	tap_is_int(file_read("big", LIMIT_BYTES, &text, &n_bytes, &err), -EFBIG,
	           "one byte more is refused");
	tap_is_str(err.text, "'big' is longer than 1048576 bytes", "and the limit is named");
	tap_ok(!text && n_bytes == LIMIT_BYTES, "a refusal leaves the outputs alone");
	tap_is_int(file_read("/dev/zero", LIMIT_BYTES, &text, &n_bytes, &err), -EFBIG,
	           "a file without an end is refused");
	unlink("big");
	free(big);
}

static void check_mistakes(void)
{
	struct err err = {0};
	char *text = NULL;
	size_t n_bytes;

	tap_is_int(file_read("none", 10, &text, &n_bytes, &err), -ENOENT, "no file cannot be read");
	tap_is_str(err.text, "cannot open 'none': No such file or directory",
	           "the sentence says so");
	tap_is_int(file_read(".", 10, &text, &n_bytes, &err), -EISDIR, "a folder cannot be read");
	tap_is_int(file_write(".", "x", 1, &err), -EISDIR, "a folder cannot be written");
	tap_is_int(file_write("none/a", "x", 1, &err), -ENOENT,
	           "nothing is written beside nothing");
	tap_contains(err.text, "cannot write 'none/a'", "the sentence names the file");
	tap_is_int(n_entries("."), 0, "mistakes leave nothing behind");
}

/* A write that fails half way, by a limit on the size of files, must not touch what was there. */
static void check_atomicity(void)
{
	struct rlimit limit, small;
	struct err err = {0};
	char *big = calloc(1, 100000);

	file_write("kept", "old", 3, &err);
	getrlimit(RLIMIT_FSIZE, &limit);
	small = limit;
	small.rlim_cur = 50000;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	tap_is_int(file_write("kept", big, 100000, &err), -EFBIG, "a write that fails says so");
	setrlimit(RLIMIT_FSIZE, &limit);
	check_contents("kept", "old", "and leaves the old file whole");
	tap_is_int(n_entries("."), 1, "and no temporary file");
	unlink("kept");
	free(big);
}

static void check_special_files(void)
{
	struct err err = {0};
	struct stat about;

	tap_is_int(file_write("/dev/null", "x", 1, &err), 0, "a device is written");
	tap_ok(!stat("/dev/null", &about) && S_ISCHR(about.st_mode), "and stays a device");
	file_write("target", "old", 3, &err);
	if (symlink("target", "link")) {
		tap_skip("this file system has no symbolic links");
		return;
	}
	tap_is_int(file_write("link", "new", 3, &err), 0, "a symbolic link is written");
	check_contents("target", "new", "its target has the text");
	tap_ok(!lstat("link", &about) && S_ISLNK(about.st_mode), "and it stays a link");
	unlink("link");
	unlink("target");
}

static void check_pieces(void)
{
	struct file_writer *writer = NULL;
	struct err err = {0};
	struct stat about;

	file_write("a", "old", 3, &err);
	chmod("a", 0600);
	tap_is_int(file_writer_open("a", &writer, &err), 0, "a file is opened for pieces");
	file_writer_put(writer, "one ", 4, &err);
	file_writer_put(writer, "two", 3, &err);
	check_contents("a", "old", "and is as it was until it is closed");
	tap_is_int(file_writer_close(writer, &err), 0, "it is closed");
	check_contents("a", "one two", "and has all pieces");
	tap_ok(!stat("a", &about) && (about.st_mode & 07777) == 0600, "and its mode");
	if (file_writer_open("a", &writer, &err) == 0) {
		file_writer_put(writer, "half", 4, &err);
		file_writer_abandon(writer);
	}
	check_contents("a", "one two", "one that is abandoned changes nothing");
	tap_is_int(n_entries("."), 1, "and leaves nothing");
	unlink("a");
	tap_is_int(file_writer_open("/dev/full", &writer, &err), 0, "a full device is opened");
	tap_is_int(file_writer_put(writer, "x", 1, &err), -ENOSPC, "and takes nothing");
	tap_is_str(err.text, "cannot write '/dev/full': No space left on device",
	           "the sentence says why");
	file_writer_abandon(writer);
}

/* It has to come behind what was printed, although it does not go through stdio. */
static void check_standard_output(void)
{
	int fd = open("printed", O_RDWR | O_CREAT, 0666), saved;
	struct err err = {0};

	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(fd, STDOUT_FILENO);
	printf("first, ");
	(void)file_write("-", "second", 6, &err);
	printf(", third");
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(fd);
	check_contents("printed", "first, second, third", "standard output is written in order");
	unlink("printed");
}

static void check_folder_of(const char *path, const char *want)
{
	char *got = file_folder(path);

	tap_is_str(got, want, "'%s' stands in '%s'", path, want);
	free(got);
}

static void check_folders(void)
{
	struct err err = {0};

	check_folder_of("a/b/c.lua", "a/b");
	check_folder_of("/c.lua", "/");
	check_folder_of("c.lua", ".");
	tap_is_int(file_make_folders("x/y/z", &err), 0, "folders are made");
	tap_is_int(file_make_folders("x/y/z", &err), 0, "folders that exist are success");
	tap_is_int(file_make_folders("x//y/w/", &err), 0, "slashes may be doubled or last");
	tap_is_int(n_entries("x/y"), 2, "all of them are there");
	tap_is_int(file_make_folders("/", &err), 0, "the root exists");
	tap_is_int(file_make_folders(".", &err), 0, "so does this folder");
	file_write("x/file", "", 0, &err);
	tap_is_int(file_make_folders("x/file", &err), -ENOTDIR, "a file is no folder");
	tap_is_int(file_make_folders("x/file/under", &err), -ENOTDIR, "nor has it folders");
	tap_contains(err.text, "cannot make the folder 'x/file/under'", "the sentence says which");
	unlink("x/file");
	rmdir("x/y/w");
	rmdir("x/y/z");
	rmdir("x/y");
	rmdir("x");
}

int main(void)
{
	/* All checks run inside a temporary folder of their own. */
	if (!tap_is_int(chdir(folder_open()), 0, "there is a temporary folder"))
		return tap_done();
	check_round_trip();
	check_limits();
	check_mistakes();
	check_atomicity();
	check_special_files();
	check_pieces();
	check_standard_output();
	check_folders();
	tap_is_int(rmdir(folder_open()), 0, "the folder is empty at the end");
	return tap_done();
}
