export { assertClaimable, type MadeSandbox, unlike } from './assert-claimable.ts';
export { baseEnvironment } from './base-environment.ts';
export { ownNames } from './own-names.ts';
export { brokenDescription, parseDescription, type Description } from './parse-description.ts';
export { alreadyThere, cannotHonour, notHere } from './refusals.ts';
export { ChangeScanner, type ScannerInput } from './scan/change-scanner.ts';
export { TEMPORARY_DIRECTORIES, temporaryBytes } from './temporary-directories.ts';
export { SETUP_KEY } from './setup-key.ts';
export { notRunning, type Rest } from './not-running.ts';
