/** Whether a host's name leads to a virtual machine of this computer, such as `lima:default`; it stands in no book before it was reached. */
export const isMachineName = (name: string): boolean => name.includes(':');
