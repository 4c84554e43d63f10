/*
 * The hosts that a development server answers: names of this machine. A page of any site can point its own name here (DNS
 * rebinding). The page would then have the server's origin, but its `Host` header is that other name.
 */
const OWN_NAME = /^(([a-z\d-]+\.)*localhost\.?|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Returns why a request with this `Host` is refused; undefined if it is accepted. */
export function refusalOf(host: string | null | undefined): string | undefined {
  if (host && OWN_NAME.test(host)) return undefined;
  const port = host?.match(/:\d+$/)?.[0] ?? "";
  return `Refused: this development server answers only requests to a name of this machine, such as http://localhost${port} or http://127.0.0.1${port}. This request is for the host \`${host ?? ""}\`. If the server answered requests to other names, a page of another site could read and change everything on it (DNS rebinding). If your proxy or tunnel sent the request, configure it to send the header \`Host: localhost\`.\n`;
}
