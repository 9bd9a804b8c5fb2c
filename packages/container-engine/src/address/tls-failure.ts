/** Why a TLS connection to an engine failed, in words that follow `it cannot be reached: `, and what to do about it. */
export interface TlsFailure {
  readonly why: string;
  readonly hint: string;
}

const CA_HINT =
  'Compare ca.pem with that of who runs the engine. Until they agree, whoever answers there may be anybody.';
const CLIENT_HINT = 'Ask who runs the engine for a cert.pem and a key.pem that it takes.';
const TIME_HINT = 'Ask who runs the engine for a new certificate of it, and look at the clock of this machine.';

/** Codes of OpenSSL's verification and of alerts, as Node has them. @see https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const FAILURES: readonly (readonly [RegExp, TlsFailure])[] = [
  [/^CERT_HAS_EXPIRED$/, { why: 'its certificate has expired', hint: TIME_HINT }],
  [/^CERT_NOT_YET_VALID$/, { why: 'its certificate is not valid yet', hint: TIME_HINT }],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    { why: 'its certificate is for another name than that of the address', hint: 'Name it as its certificate does.' },
  ],
  [
    /SELF_SIGNED|^UNABLE_TO_(GET_ISSUER|VERIFY)|^CERT_(SIGNATURE_FAILURE|UNTRUSTED|REJECTED|REVOKED)$|^INVALID_(CA|PURPOSE)$/,
    { why: 'ca.pem does not vouch for the issuer of its certificate', hint: CA_HINT },
  ],
  [
    /ALERT_(BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED|DECRYPT_ERROR|HANDSHAKE_FAILURE)/,
    { why: 'it does not take the certificate of this client', hint: CLIENT_HINT },
  ],
  [
    /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|INVALID_.*RECORD.*)$/,
    { why: 'no TLS is spoken there', hint: 'Check which port the engine has TLS on; 2376 is the usual one.' },
  ],
  [
    /^ERR_(SSL|OSSL)_.*(KEY_VALUES_MISMATCH|KEY_TYPE_MISMATCH|BAD_DECRYPT|BAD_PASSWORD_READ|UNSUPPORTED|NO_START_LINE)/,
    { why: 'cert.pem and key.pem cannot be used together', hint: CLIENT_HINT },
  ],
];

/** What a failure of TLS means; `undefined` for another one. */
export function tlsFailure(error: unknown): TlsFailure | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (typeof code !== 'string') return undefined;
  return FAILURES.find(([pattern]) => pattern.test(code))?.[1];
}
