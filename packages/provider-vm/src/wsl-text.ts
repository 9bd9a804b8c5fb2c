/**
 * What `wsl.exe` says of itself: UTF-16, or UTF-8 where it knows `WSL_UTF8` (0.64 and later). Every second byte of a Latin text in UTF-16 is NUL,
 * and no line of UTF-8 has one.
 *
 * @see https://github.com/microsoft/WSL/blob/master/src/windows/common/WslClient.cpp `SetCrtEncoding`
 */
export function wslText(bytes: Uint8Array): string {
  const text = new TextDecoder(bytes.includes(0) ? 'utf-16le' : 'utf-8').decode(bytes);
  return text.replaceAll('\r', '').replace(/^\uFEFF/, '');
}
