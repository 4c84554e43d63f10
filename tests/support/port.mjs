import getPort, { portNumbers } from "get-port";

/**
 * Returns a port of this machine that nothing uses. Two test files that run at the same time search in
 * different ranges. All ports are below those that the system gives to outgoing connections. So no connection
 * can take a port between the search and the start of a server.
 * @returns {Promise<number>}
 */
export function testPort() {
  const first = 20_000 + (process.pid % 1_000) * 10;
  return getPort({ port: portNumbers(first, 31_999) });
}
