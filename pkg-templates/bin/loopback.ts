/*
 * Whom a server of development answers: who calls it by a name of this machine. A page of any site can lead its own name
 * here (DNS rebinding), and would then be of the server's origin: its Host is that name.
 */
const OWN_NAME = /^(([a-z\d-]+\.)*localhost\.?|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Says why a request with this `Host` is refused; undefined if it is not. */
export function refusalOf(host: string | null | undefined): string | undefined {
  if (host && OWN_NAME.test(host)) return undefined;
  const port = host?.match(/:\d+$/)?.[0] ?? "";
  return `Refused: this server is for development, and answers only by a name of this machine, such as http://localhost${port} or http://127.0.0.1${port}. The request is for the host \`${host ?? ""}\`. By such a name a page of another site could read and change everything here (DNS rebinding). If a proxy or a tunnel of yours sent it, let that send the header \`Host: localhost\`.\n`;
}
