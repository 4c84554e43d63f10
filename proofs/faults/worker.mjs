/**
 * The shipped Worker, unchanged, behind a KV that knows whose call each is: the header `x-number` of a request is put
 * before the names that its calls of KV ask for. `x-stand-in` breaks it as in `tests/server`.
 */
import service from "../../tests/server/stand-ins.mjs";

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
