// Signs in to a server as an MCP client does, with the official TypeScript client: it is
// refused, discovers the provider, becomes a client of it, sends the person there, gets a
// token, and uses it.
//
//   node client.mjs URL ACCOUNT CLIENT [SCOPE]
//
// CLIENT is "register" (dynamic registration), "document" (client id metadata document) or the id
// of a client that the provider has. With SCOPE, the one to read, the client first asks for no
// other. It prints what happened as one JSON object.
import { auth, Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const [url, account, mode, scope] = process.argv.slice(2);
const redirect = 'http://127.0.0.1:9/callback';
const got = { asked: [] };

// What a person does in a browser: signs in, and allows what the page asks for.
async function allow(authorization) {
  const jar = new Map();
  let next = new URL(authorization), body;
  for (let i = 0; i < 20; i++) {
    const response = await fetch(next, {
      method: body ? 'POST' : 'GET', body, redirect: 'manual',
      headers: { cookie: [...jar].map(([k, v]) => `${k}=${v}`).join('; ') },
    });
    for (const c of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(c);
      if (value) jar.set(name, value); else jar.delete(name);
    }
    const location = response.headers.get('location');
    const page = await response.text();
    body = undefined;
    if (location) {
      next = new URL(location, next);
      if (next.href.startsWith(redirect)) return next.searchParams;
      continue;
    }
    const action = /action="([^"]+)"/.exec(page);
    if (!action) throw new Error(`${response.status}: ${page.slice(0, 500)}`);
    const form = new URLSearchParams();
    for (const [, name, value] of page.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)) form.set(name, value);
    if (form.get('prompt') === 'login') { form.set('login', account); form.set('password', 'any'); }
    body = form;
    next = new URL(action[1].replaceAll('&amp;', '&'), next);
  }
  throw new Error('the provider never came to an end');
}

const provider = {
  redirectUrl: redirect,
  clientMetadataUrl: mode === 'document' ? 'https://editor.example.com/client.json' : undefined,
  clientMetadata: {
    client_name: 'e2e', redirect_uris: [redirect], token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
  },
  clientInformation: () => provider.client,
  client: ['register', 'document'].includes(mode) ? undefined : { client_id: mode },
  saveClientInformation: (c) => { provider.client = c; got.client = c.client_id; },
  tokens: () => provider.token,
  saveTokens: (t) => { provider.token = t; },
  saveCodeVerifier: (v) => { provider.verifier = v; },
  codeVerifier: () => provider.verifier,
  saveDiscoveryState: (s) => { provider.discovery = s; },
  discoveryState: () => provider.discovery,
  redirectToAuthorization: async (u) => {
    got.asked.push({ scope: u.searchParams.get('scope'), resource: u.searchParams.get('resource'), challenge: u.searchParams.get('code_challenge_method') });
    provider.answer = await allow(u);
  },
};

// One attempt after another, as a client with a person at it: each that ends in a sign-in is
// repeated with the token.
async function attempt(f) {
  for (let i = 0; ; i++) {
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
    const client = new Client({ name: 'e2e', version: '1' });
    try {
      await client.connect(transport);
      return await f(client);
    } catch (e) {
      const unauthorized = e instanceof UnauthorizedError || e?.cause instanceof UnauthorizedError;
      if (!unauthorized || !provider.answer || i > 3) throw e;
      await transport.finishAuth(provider.answer);
      provider.answer = undefined;
    } finally {
      await client.close().catch(() => {});
    }
  }
}

if (scope) {
  await auth(provider, { serverUrl: url, scope });
  await auth(provider, { serverUrl: url, authorizationCode: provider.answer.get('code'), iss: provider.answer.get('iss') ?? undefined });
  provider.answer = undefined;
  got.first = await attempt(async (client) => (await client.listTools()).tools.length);
}
got.reply = await attempt(async (client) => {
  const result = await client.callTool({ name: 'sequentialthinking', arguments: { thought: `${account} signs in`, nextThoughtNeeded: true } });
  return result.structuredContent;
});
got.token = provider.token.access_token;
got.refresh = provider.token.refresh_token;
process.stdout.write(JSON.stringify(got));
process.exit(0);
