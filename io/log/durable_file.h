/*
 * Makes written files survive a power loss: syncs the bytes of a file and the folder entry with its
 * name.
 */
#pragma once

/* Sync the folder of this path.  0 or -errno; 0 as well when the file system cannot sync a
 * folder.  Context: any but frame. */
int io_durable_sync_folder(const char *path);

/* Sync the bytes of an open file.  0 or -errno; 0 as well for a pipe or a device, which has
 * nothing to sync.  Context: any but frame. */
int io_durable_sync_file(int fd);
