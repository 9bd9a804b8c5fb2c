#ifndef LITTERBOX_MOUNTS_H
#define LITTERBOX_MOUNTS_H

#include <stdbool.h>

/* Shows a directory or a file in a second place. Ends the program where that cannot be. */
void mount_bind(const char *source, const char *target);

/*
 * Mounts an overlay. Options are those of mount(8): `ro`, `nosuid` and `nodev` are flags of the kernel's, the others the file system's own.
 * FROZEN_MARK among them stands for the layers that read_frozen_layers found. False, with errno, when it cannot.
 */
bool mount_overlay(const char *options, const char *target);

enum { FROZEN_MARK = 1 };

/*
 * In the sandbox's directory, before anything is mounted: looks which upper layers were frozen, `frozen/1` and so on, the higher above. A program that was killed between the two
 * renames by which a layer is frozen left no upper layer: the fresh one was complete before the first of them, and gets its name.
 */
void heal_upper_layer(void);
void read_frozen_layers(void);

#endif
