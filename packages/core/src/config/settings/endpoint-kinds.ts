/** A service that many agents call. Each member stands where a file says nothing else. */
export interface EndpointKind {
  readonly url: string;
  /** Name and value of the header that carries the secret. */
  readonly header: string;
  readonly methods: readonly string[];
  readonly paths: readonly string[];
  /** By which programs find the endpoint; goose knows the `HOST` alone. `{url}` and `{placeholder}` are filled in. */
  readonly variables: Readonly<Record<string, string>>;
  /** Has the shape that programs look at before they send anything, and opens nothing. */
  readonly placeholder: string;
}

const FILLER =
  'litterbox-placeholder-0000000000000000000000000000000000000000000000000000000000000000000000000000000000';

/** The placeholder of an endpoint of no kind. */
export const PLACEHOLDER = FILLER.slice(0, 40);

/**
 * The services by the names that files use.
 *
 * @see https://platform.claude.com/docs/en/api/overview
 * @see https://platform.openai.com/docs/api-reference/authentication
 * @see https://ai.google.dev/gemini-api/docs/api-key
 * @see https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api
 */
export const ENDPOINT_KINDS: Readonly<Record<string, EndpointKind>> = {
  anthropic: {
    url: 'https://api.anthropic.com',
    header: 'x-api-key: {secret}',
    methods: ['GET', 'HEAD', 'POST'],
    paths: ['/v1/*'],
    variables: { ANTHROPIC_BASE_URL: '{url}', ANTHROPIC_HOST: '{url}', ANTHROPIC_API_KEY: '{placeholder}' },
    placeholder: `sk-ant-api03-${FILLER.slice(0, 93)}AA`,
  },
  openai: {
    url: 'https://api.openai.com',
    header: 'authorization: Bearer {secret}',
    methods: ['GET', 'HEAD', 'POST'],
    paths: ['/v1/*'],
    variables: { OPENAI_BASE_URL: '{url}/v1', OPENAI_HOST: '{url}', OPENAI_API_KEY: '{placeholder}' },
    placeholder: `sk-proj-${FILLER.slice(0, 48)}`,
  },
  gemini: {
    url: 'https://generativelanguage.googleapis.com',
    header: 'x-goog-api-key: {secret}',
    methods: ['GET', 'HEAD', 'POST'],
    paths: ['/v1/*', '/v1beta/*'],
    variables: { GOOGLE_GEMINI_BASE_URL: '{url}', GEMINI_API_KEY: '{placeholder}' },
    placeholder: `AIza${FILLER.slice(0, 35)}`,
  },
  github: {
    url: 'https://api.github.com',
    header: 'authorization: Bearer {secret}',
    methods: ['GET', 'HEAD'],
    paths: ['/*'],
    variables: { GITHUB_API_URL: '{url}', GITHUB_TOKEN: '{placeholder}' },
    placeholder: `ghp_${FILLER.replaceAll('-', '').slice(0, 36)}`,
  },
};
