// An identity provider: the certified implementation oidc-provider, with everybody allowed to
// register a client, accounts without a password, and tokens that are JWTs for a resource.
//
//   node provider.mjs PORT RESOURCE KEYFILE
//
// KEYFILE is a set of private keys; it is read at the start. A line "ready" is printed when
// the provider listens.
import { readFileSync } from 'node:fs';
import { Provider } from 'oidc-provider';

const [port, resource, keys] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;

// The metadata document of a client that nobody registered. Its URL is not of this machine, so
// the provider's requests end here.
const document = 'https://editor.example.com/client.json';
const published = {
  client_id: document, client_name: 'Editor', redirect_uris: ['http://127.0.0.1:9/callback'],
  grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none',
};

const scopes = 'sequent:read sequent:write sequent:admin';
const provider = new Provider(issuer, {
  jwks: JSON.parse(readFileSync(keys, 'utf8')),
  scopes: ['openid', 'offline_access', ...scopes.split(' ')],
  clientDefaults: { token_endpoint_auth_method: 'none', id_token_signed_response_alg: 'ES256' },
  pkce: { required: () => true },
  features: {
    registration: { enabled: true },
    deviceFlow: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, asked) => {
        if (!asked.startsWith(resource)) throw new Error(`no such resource: ${asked}`);
        return { scope: scopes, audience: asked, accessTokenTTL: 600, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } };
      },
    },
  },
  fetch: async (url) => {
    if (String(url) !== document) throw new Error(`unexpected request: ${url}`);
    return new Response(JSON.stringify(published), { headers: { 'content-type': 'application/json' } });
  },
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
});
provider.on('server_error', (_ctx, err) => console.error(err));
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
