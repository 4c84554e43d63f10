/**
 * Runs the shipped Worker, unchanged, with a stand-in for KV. The stand-in must know which request makes each
 * KV call. So the number in the request's header `x-number` is put before each record name. The header
 * `x-stand-in` breaks the Worker as in `tests/server`.
 */
import service from "../../server/stand-ins.mjs";

const numbered = (kv, number) => ({
  getWithMetadata: (name, options) => kv.getWithMetadata(`${number} ${name}`, options),
  put: (name, ...rest) => kv.put(`${number} ${name}`, ...rest),
});

export default {
  fetch(request, env, context) {
    const number = request.headers.get("x-number");
    return service.fetch(
      request,
      number === null ? env : { ...env, PLEDGES: numbered(env.PLEDGES, number) },
      context,
    );
  },
};
