/** Shows the cost of workerd alone: reads nothing of the request, and sends an empty answer. */
export default {
  fetch: () => new Response("{}", { headers: { "content-type": "application/json" } }),
};
