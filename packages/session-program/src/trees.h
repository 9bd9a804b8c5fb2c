#ifndef LITTERBOX_TREES_H
#define LITTERBOX_TREES_H

/* Removes what is at that path and follows no link. The text is run where that cannot be done here; this program ends where the text fails. */
void remove_tree(const char *path, const char *shell_text);

#endif
