// An identity provider: the certified implementation oidc-provider, with everybody allowed to
// register a client, accounts without a password, and tokens that are JWTs for a resource.
//
//   node provider.mjs ISSUER RESOURCE KEYFILE [FLAVOUR] [SECRET]
//
// KEYFILE is a set of private keys; it is read at the start. FLAVOUR is one of flavours.mjs. With
// SECRET the client "sequent" is a confidential one. A line "ready" is printed when the provider
// listens.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import { flavours } from './flavours.mjs';

const [issuer, resource, keys, name, secret] = process.argv.slice(2);
const { port, pathname } = new URL(issuer);

// The metadata document of a client that nobody registered. Its URL is not of this machine, so
// the provider's requests end here.
const document = 'https://editor.example.com/client.json';
const published = {
  client_id: document, client_name: 'Editor', application_type: 'native', redirect_uris: ['http://127.0.0.1:9/callback', 'http://127.0.0.1/oauth/callback'],
  grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none',
};

const scopes = 'sequent:read sequent:write sequent:admin';
const flavour = {
  clients: [], secret: 'client_secret_basic', assumed: () => undefined,
  info: (_ctx, asked) => {
    if (!asked.startsWith(resource)) throw new Error(`no such resource: ${asked}`);
    return { scope: scopes, audience: asked, accessTokenTTL: 600, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } };
  },
  token: () => {}, discovery: () => {}, change: () => {},
  ...flavours[name]?.(resource, issuer),
};

// The client of the server's viewer and of its command line, which the operator registered.
const own = {
  client_id: 'sequent', application_type: 'web', redirect_uris: [`${resource}/ui/signin`], response_types: ['code'],
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  ...(secret ? { token_endpoint_auth_method: flavour.secret, client_secret: secret } : { token_endpoint_auth_method: 'none' }),
};

// A client of somebody else, which the operator registered, as providers without registration need.
const editor = {
  client_id: 'editor', application_type: 'native', redirect_uris: ['http://127.0.0.1:9/callback'], response_types: ['code'],
  grant_types: ['authorization_code', 'refresh_token'],
};

const configuration = {
  jwks: JSON.parse(readFileSync(keys, 'utf8')),
  scopes: ['openid', 'offline_access', ...scopes.split(' ')],
  clientDefaults: { token_endpoint_auth_method: 'none', id_token_signed_response_alg: 'ES256' },
  clients: [own, editor, ...flavour.clients],
  formats: {
    customizers: {
      jwt: (_ctx, token, parts) => {
        // Tokens of the account "brief" have expired when they are issued. Servers accept that
        // for 30 seconds, for clocks that differ; these are valid for the last eight of them.
        if (token.accountId === 'brief') parts.payload.exp = parts.payload.iat - 22;
        parts.header = {};
        flavour.token(token, parts);
      },
    },
  },
  // As most providers do; by itself this one wants to ask the person each time.
  issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  ...(name ? { rotateRefreshToken: true } : {}), // by itself only for public clients
  pkce: { required: () => true },
  features: {
    registration: { enabled: true },
    deviceFlow: { enabled: true },
    revocation: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      defaultResource: (ctx, _client, oneOf) => oneOf ?? flavour.assumed(ctx),
      getResourceServerInfo: flavour.info,
    },
  },
  fetch: async (url) => {
    if (String(url) !== document) throw new Error(`unexpected request: ${url}`);
    return new Response(JSON.stringify(published), { headers: { 'content-type': 'application/json' } });
  },
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
};
flavour.change(configuration);
const provider = new Provider(issuer, configuration);
let silent = false; // about itself in its answers
provider.use(async (ctx, next) => {
  await next();
  if (ctx.oidc?.route === 'discovery') {
    flavour.discovery(ctx.body);
    silent = !ctx.body.authorization_response_iss_parameter_supported;
  }
  const location = ctx.response.get('location');
  if (silent && location?.includes('code=')) {
    const to = new URL(location);
    to.searchParams.delete('iss');
    ctx.response.set('location', to.href);
  }
});
provider.on('server_error', (_ctx, err) => console.error(err));

const prefix = pathname.replace(/\/$/, '');
const answer = provider.callback();
createServer((req, res) => {
  req.originalUrl = req.url;
  if (prefix && !req.url.startsWith(`${prefix}/`)) return res.writeHead(404).end();
  req.url = req.url.slice(prefix.length);
  return answer(req, res);
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
