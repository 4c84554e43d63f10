// Sends orders to the shop's server, such as the one in ../node.
export default {
  server: { proxy: { "/orders": process.env.SHOP_SERVER ?? "http://127.0.0.1:3000" } },
};
