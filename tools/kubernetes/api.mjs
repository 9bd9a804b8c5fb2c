// The API of the test's own cluster, for the programs that stand in for a cluster's plugins.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';

/** Asks as who made the cluster. @param {string} directory of the cluster */
export function apiOf(directory) {
  const ca = readFileSync(`${directory}/ca.crt`);
  const [token] = readFileSync(`${directory}/tokens.csv`, 'utf8').split(',', 1);
  return async (path, method = 'GET', body) => {
    const { promise, resolve, reject } = Promise.withResolvers();
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    };
    request(`https://10.77.0.1:6443${path}`, { ca, method, headers }, resolve)
      .on('error', reject)
      .end(body && JSON.stringify(body));
    const answer = await promise;
    let text = '';
    for await (const chunk of answer) text += chunk;
    if (answer.statusCode > 299) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text);
  };
}
