// What providers do differently from oidc-provider's own manner, as their documentation says (see
// docs/teams.md). Each flavour is a function of the server's URL that returns:
//
//   clients    that the operator registered, beside that of every flavour; then `secret`,
//              how the client of the viewer sends its secret
//   info       (ctx, asked) what a token for a resource has; it throws what the provider refuses
//   assumed    (ctx) the resource of a request that names none
//   token      (token, parts) changes header and claims of an access token
//   discovery  (document) changes the discovery document
//   change     (configuration) changes anything else
import { createHash } from 'node:crypto';
import { errors } from 'oidc-provider';

const named = (prefix) => ['read', 'write', 'admin'].map((s) => prefix + s).join(' ');
const standard = named('sequent:');
const jwt = (scope, audience) => ({ scope, audience, accessTokenTTL: 600, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } });

// Some providers refuse a request for a scope that they do not know; oidc-provider leaves it out.
function onlyKnown(ctx, scope, message) {
  const known = new Set(['openid', 'offline_access', 'profile', 'email', ...scope.split(' ')]);
  const unknown = (ctx.oidc.params?.scope ?? '').split(' ').find((s) => s && !known.has(s));
  if (unknown) throw new errors.InvalidScope(message, unknown);
}

const commandLine = { client_id: 'sequent-cli', application_type: 'native', redirect_uris: [], response_types: [], grant_types: ['refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'] };

const tenant = '7d3c9b1e-4f0a-4d57-9a86-2b1f60c2a9e1';
const api = '0b7c5a52-5f0e-4c1c-8f9e-3f1d2f9a6c10'; // client id of the API

// Entra issues tokens of version 2 for an API, but for the account "old". `uri` is its Application ID
// URI; scopes are asked for with it, and come without it.
function entra(uri, accepts) {
  const scope = named(`${uri}/sequent.`);
  return {
    clients: [commandLine], secret: 'client_secret_post',
    assumed: () => uri,
    info: (ctx, asked) => {
      onlyKnown(ctx, scope, 'AADSTS70011: The provided value for the input parameter scope is not valid.');
      if (!accepts(asked)) throw new errors.InvalidTarget("AADSTS9010010: The resource parameter provided in the request doesn't match with the requested scopes.");
      return jwt(scope, api);
    },
    token: (token, { header, payload }) => {
      header.typ = 'JWT';
      payload.scp = payload.scope.replaceAll(`${uri}/`, '');
      payload.azp = payload.client_id;
      payload.oid = `oid-${token.accountId}`;
      payload.sub = createHash('sha256').update(`${payload.client_id} ${token.accountId}`).digest('base64url'); // another one for each client
      payload.tid = tenant;
      payload.ver = '2.0';
      if (token.accountId === 'old') Object.assign(payload, { iss: `https://sts.windows.net/${tenant}/`, ver: '1.0' });
      delete payload.scope;
      delete payload.client_id;
    },
    discovery: (d) => {
      for (const name of ['code_challenge_methods_supported', 'authorization_response_iss_parameter_supported', 'registration_endpoint', 'revocation_endpoint', 'client_id_metadata_document_supported']) delete d[name];
      d.scopes_supported = ['openid', 'profile', 'email', 'offline_access'];
      d.token_endpoint_auth_methods_supported = ['client_secret_post', 'private_key_jwt', 'client_secret_basic'];
    },
  };
}

export const flavours = {
  // Keycloak does not know the resource parameter. A mapper adds the audience of this server, but for
  // the account "unmapped".
  keycloak: (server) => ({
        assumed: () => `${server}/mcp`,
    info: () => jwt(standard, `${server}/mcp`),
    token: (token, { header, payload }) => {
      header.typ = 'JWT';
      payload.typ = 'Bearer';
      payload.aud = token.accountId === 'unmapped' ? 'account' : ['account', payload.aud];
      payload.azp = payload.client_id;
      payload.sid = 'b9a1';
      payload.realm_access = { roles: ['offline_access', 'uma_authorization', 'default-roles-acme'] };
      delete payload.client_id;
    },
    change: (c) => { c.rotateRefreshToken = false; }, // by default
  }),

  // Auth0 issues a JWT only if it is asked for an API with the parameter audience or, with the
  // Resource Parameter Compatibility Profile, with resource; the device flow knows audience only.
  auth0: (server, issuer) => {
    const id = `${server}/mcp`, userinfo = `${issuer}userinfo`, asked = new Map();
    return {
      clients: [commandLine], secret: 'client_secret_post',
      assumed: () => userinfo,
      info: (ctx, resource, client) => {
        const { audience } = ctx.oidc.params ?? {};
        if (['authorization', 'resume'].includes(ctx.oidc.route)) asked.set(client.clientId, audience ?? resource);
        if (ctx.oidc.route === 'device_authorization') asked.set(client.clientId, audience);
        if (asked.get(client.clientId) === id) return jwt(standard, id);
        return { scope: standard, audience: userinfo, accessTokenFormat: 'opaque' };
      },
      token: (_token, { header, payload }) => {
        header.typ = 'JWT';
        payload.aud = [payload.aud, userinfo];
        payload.azp = payload.client_id;
        delete payload.client_id;
      },
      discovery: (d) => { delete d.authorization_response_iss_parameter_supported; },
      change: (c) => { c.extraParams = { audience: null }; },
    };
  },

  // A custom authorization server of Okta has one audience for all its tokens.
  okta: () => ({
    clients: [commandLine], secret: 'client_secret_basic',
    assumed: () => 'api://default',
    info: (ctx) => {
      onlyKnown(ctx, standard, 'One or more scopes are not configured for the authorization server resource.');
      return jwt(standard, 'api://default');
    },
    token: (token, { header, payload }) => {
      header.typ = undefined;
      payload.scp = payload.scope.split(' ');
      payload.cid = payload.client_id;
      payload.uid = `00u${token.accountId}`;
      payload.sub = `${token.accountId}@example.com`;
      payload.ver = 1;
      delete payload.scope;
      delete payload.client_id;
    },
    discovery: (d) => { for (const name of ['authorization_response_iss_parameter_supported', 'registration_endpoint', 'client_id_metadata_document_supported']) delete d[name]; },
  }),

  // Entra with the server's URL as Application ID URI, whose domain is verified; then it accepts
  // the resource parameter of MCP clients.
  entra: (server) => entra(`${server}/mcp`, (asked) => asked === `${server}/mcp`),

  // Entra with the Application ID URI that it suggests.
  'entra-api': () => entra(`api://${api}`, (asked) => asked === `api://${api}`),
};
