// SPDX-License-Identifier: GPL-2.0
#include "history_disk.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { STEP_WRITE, STEP_TRUNCATE, STEP_REMOVE, STEP_SYNC, STEP_MARK };

struct step {
	enum kind kind;
	unsigned file;
	sqlite3_int64 at; /* or the size after a truncation */
	size_t size;
	u8 *bytes;
};

#define FILES_MAX 16

/* A file of SQLite, with the one of the default VFS behind it. */
struct file {
	sqlite3_file base;
	unsigned number;
	sqlite3_file *real;
};

static struct {
	sqlite3_vfs vfs;
	sqlite3_vfs *real;
	sqlite3_io_methods methods;
	struct step *steps;
	size_t n, room;
	char names[FILES_MAX][64];
	unsigned n_files;
	int write_error, sync_error;
} disk;

static void demand(bool condition)
{
	if (!condition)
		abort();
}

static unsigned file_number(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	for (unsigned i = 0; i < disk.n_files; i++)
		if (strcmp(disk.names[i], name) == 0)
			return i;
	demand(disk.n_files < FILES_MAX && strlen(name) < sizeof(disk.names[0]));
	(void)strcpy(disk.names[disk.n_files], name);
	return disk.n_files++;
}

static void add_step(enum kind kind, unsigned file, sqlite3_int64 at, const void *bytes, size_t size)
{
	struct step *step;

	if (disk.n == disk.room) {
		disk.room = disk.room ? 2 * disk.room : 1024;
		disk.steps = realloc(disk.steps, disk.room * sizeof(*disk.steps));
		demand(disk.steps);
	}
	step = &disk.steps[disk.n++];
	*step = (struct step){.kind = kind, .file = file, .at = at, .size = size};
	if (size > 0) {
		step->bytes = malloc(size);
		demand(step->bytes);
		memcpy(step->bytes, bytes, size);
	}
}

static sqlite3_file *real_of(sqlite3_file *file)
{
	return ((struct file *)file)->real;
}

#define REAL(file) (real_of(file)->pMethods)

static int on_close(sqlite3_file *file)
{
	return REAL(file)->xClose(real_of(file));
}

static int on_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
	return REAL(file)->xRead(real_of(file), to, size, at);
}

static int on_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 at)
{
	if (disk.write_error)
		return disk.write_error;
	add_step(STEP_WRITE, ((struct file *)file)->number, at, from, (size_t)size);
	return REAL(file)->xWrite(real_of(file), from, size, at);
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	add_step(STEP_TRUNCATE, ((struct file *)file)->number, size, NULL, 0);
	return REAL(file)->xTruncate(real_of(file), size);
}

static int on_sync(sqlite3_file *file, int flags)
{
	if (disk.sync_error)
		return disk.sync_error;
	add_step(STEP_SYNC, ((struct file *)file)->number, 0, NULL, 0);
	return REAL(file)->xSync(real_of(file), flags);
}

static int on_size(sqlite3_file *file, sqlite3_int64 *ret)
{
	return REAL(file)->xFileSize(real_of(file), ret);
}

static int on_lock(sqlite3_file *file, int level)
{
	return REAL(file)->xLock(real_of(file), level);
}

static int on_unlock(sqlite3_file *file, int level)
{
	return REAL(file)->xUnlock(real_of(file), level);
}

static int on_check_lock(sqlite3_file *file, int *ret)
{
	return REAL(file)->xCheckReservedLock(real_of(file), ret);
}

static int on_control(sqlite3_file *file, int what, void *argument)
{
	return REAL(file)->xFileControl(real_of(file), what, argument);
}

static int on_sector(sqlite3_file *file)
{
	return REAL(file)->xSectorSize(real_of(file));
}

/* Tells SQLite that a write of a sector may destroy neighbouring sectors. */
static int on_characteristics(sqlite3_file *file)
{
	(void)file;
	return 0;
}

static int on_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
	return REAL(file)->xShmMap(real_of(file), page, size, extend, ret);
}

static int on_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
	return REAL(file)->xShmLock(real_of(file), offset, n, flags);
}

static void on_shm_barrier(sqlite3_file *file)
{
	REAL(file)->xShmBarrier(real_of(file));
}

static int on_shm_unmap(sqlite3_file *file, int remove)
{
	return REAL(file)->xShmUnmap(real_of(file), remove);
}

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	struct file *own = (struct file *)file;
	int r;

	(void)vfs;
	own->real = (sqlite3_file *)(own + 1);
	own->number = name ? file_number(name) : FILES_MAX;
	r = disk.real->xOpen(disk.real, name, own->real, flags, ret_flags);
	file->pMethods = own->real->pMethods ? &disk.methods : NULL;
	return r;
}

static int on_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	add_step(STEP_REMOVE, file_number(name), 0, NULL, 0);
	return disk.real->xDelete(disk.real, name, sync);
}

void history_disk_begin(void)
{
	history_disk_end();
	disk.real = sqlite3_vfs_find(NULL);
	demand(disk.real);
	disk.vfs = *disk.real;
	disk.vfs.pNext = NULL;
	disk.vfs.zName = HISTORY_DISK;
	disk.vfs.szOsFile = (int)sizeof(struct file) + disk.real->szOsFile;
	disk.vfs.xOpen = on_open;
	disk.vfs.xDelete = on_delete;
	disk.methods = (sqlite3_io_methods){.iVersion = 2,
					    .xClose = on_close,
					    .xRead = on_read,
					    .xWrite = on_write,
					    .xTruncate = on_truncate,
					    .xSync = on_sync,
					    .xFileSize = on_size,
					    .xLock = on_lock,
					    .xUnlock = on_unlock,
					    .xCheckReservedLock = on_check_lock,
					    .xFileControl = on_control,
					    .xSectorSize = on_sector,
					    .xDeviceCharacteristics = on_characteristics,
					    .xShmMap = on_shm_map,
					    .xShmLock = on_shm_lock,
					    .xShmBarrier = on_shm_barrier,
					    .xShmUnmap = on_shm_unmap};
	demand(sqlite3_vfs_register(&disk.vfs, 0) == SQLITE_OK);
}

void history_disk_fail(int writes, int syncs)
{
	disk.write_error = writes;
	disk.sync_error = syncs;
}

void history_disk_mark(void)
{
	add_step(STEP_MARK, 0, 0, NULL, 0);
}

size_t history_disk_steps(void)
{
	return disk.n;
}

size_t history_disk_marks(size_t steps)
{
	size_t marks = 0;

	for (size_t i = 0; i < steps; i++)
		marks += disk.steps[i].kind == STEP_MARK;
	return marks;
}

/* Returns whether a sync follows this write within the first steps. */
static bool is_safe(size_t step, size_t steps)
{
	for (size_t i = step + 1; i < steps; i++)
		if (disk.steps[i].kind == STEP_SYNC && disk.steps[i].file == disk.steps[step].file)
			return true;
	return false;
}

static void apply(const char *directory, const struct step *step)
{
	char path[512];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, disk.names[step->file]);
	if (step->kind == STEP_REMOVE) {
		(void)unlink(path);
		return;
	}
	if (step->kind != STEP_WRITE && step->kind != STEP_TRUNCATE)
		return;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	demand(fd >= 0);
	if (step->kind == STEP_WRITE)
		demand(pwrite(fd, step->bytes, step->size, step->at) == (ssize_t)step->size);
	else
		demand(ftruncate(fd, step->at) == 0);
	(void)close(fd);
}

void history_disk_restore(const char *directory, size_t steps, bool power, u64 random)
{
	for (unsigned i = 0; i < disk.n_files; i++)
		apply(directory, &(struct step){.kind = STEP_REMOVE, .file = i});
	for (size_t i = 0; i < steps; i++) {
		const struct step *step = &disk.steps[i];

		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		if (power && step->kind == STEP_WRITE && !is_safe(i, steps) && random >> 63)
			continue;
		apply(directory, step);
	}
}

void history_disk_end(void)
{
	for (size_t i = 0; i < disk.n; i++)
		free(disk.steps[i].bytes);
	free(disk.steps);
	if (disk.vfs.zName)
		(void)sqlite3_vfs_unregister(&disk.vfs);
	memset(&disk, 0, sizeof(disk));
}
