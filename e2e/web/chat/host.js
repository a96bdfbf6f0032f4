// A host of MCP Apps for tests. It calls the server through /rpc of the test, which speaks to it
// in the era and over the transport that are tested.
import { AppBridge, PostMessageTransport, RESOURCE_MIME_TYPE, RESOURCE_URI_META_KEY } from '@modelcontextprotocol/ext-apps/app-bridge';

async function rpc(method, params = {}) {
  const r = await (await fetch('/rpc', { method: 'POST', body: JSON.stringify({ method, params }) })).json();
  if (r.error) throw new Error(r.error.message);
  return r.result;
}

window.calls = [];
window.show = async (args, options = {}) => {
  const tool = (await rpc('tools/list')).tools.find((t) => t.name === 'show_thinking');
  const uri = tool._meta.ui.resourceUri;
  if (uri !== tool._meta[RESOURCE_URI_META_KEY]) throw new Error('the two keys differ');
  if (tool.annotations) throw new Error('the tool has annotations');
  const item = (await rpc('resources/read', { uri })).contents[0];
  if (item.mimeType !== RESOURCE_MIME_TYPE) throw new Error('type ' + item.mimeType);
  const frame = document.createElement('iframe');
  frame.src = new URLSearchParams(location.search).get('sandbox');
  const bridge = new AppBridge(null, { name: 'host', version: '1' }, { serverTools: {}, message: { text: {} } }, {
    hostContext: { theme: options.theme || 'light', displayMode: 'inline', availableDisplayModes: ['inline'], containerDimensions: { maxHeight: options.maxHeight || 700 } },
  });
  bridge.onsizechange = ({ height }) => { if (height) frame.style.height = height + 'px'; };
  bridge.onmessage = async ({ content }) => { document.getElementById('messages').textContent += content[0].text + '\n'; return {}; };
  bridge.oncalltool = async (params) => { window.calls.push(params); return rpc('tools/call', params); };
  const ready = new Promise((resolve) => { bridge.onsandboxready = resolve; });
  const initialized = new Promise((resolve) => { bridge.oninitialized = resolve; });
  document.getElementById('frame').replaceChildren(frame);
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await ready;
  // The Inspector puts pages into the body of one of its own.
  await bridge.sendSandboxResourceReady({ html: options.wrapped ? '<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>' + item.text + '</body></html>' : item.text });
  await initialized;
  bridge.sendToolInput({ arguments: args });
  const result = await rpc('tools/call', { name: 'show_thinking', arguments: args });
  bridge.sendToolResult(result);
  window.bridge = bridge;
  return result.content[0].text;
};
window.loaded = true;
