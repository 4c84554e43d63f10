const { tryAll } = require("./entries.cjs");

tryAll({ baseUrl: process.argv[2] }).then((result) => console.log(JSON.stringify(result)));
