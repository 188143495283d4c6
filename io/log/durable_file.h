/*
 * What is called written survives a loss of power: the bytes of a file are synced, and so is the
 * folder that has its name.
 */
#pragma once

/* Sync the folder in which this name lies.  0 or -errno; a file system that cannot sync a folder
 * has no more to give.  Context: any but frame. */
int io_durable_sync_folder(const char *path);

/* Sync the bytes of an open file.  0 or -errno; a pipe or a device has nothing to sync.
 * Context: any but frame. */
int io_durable_sync_file(int fd);
