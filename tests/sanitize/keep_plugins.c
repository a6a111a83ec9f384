/*
 * keep_plugins.c — preloaded into ranks under AddressSanitizer: plug-ins of the MPI library stay mapped to
 * the end. Without it every leak inside a plug-in is reported as "unknown module", which no suppression can
 * name, and would drown ours. Must never be part of the library.
 */
int dlclose(void *handle);

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
