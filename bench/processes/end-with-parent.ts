/**
 * Loaded into every process that a measurement starts. Whatever happens to the process that measures, nothing that it started
 * lives on. A Ctrl-C in the terminal reaches all of them; who ends when is decided by the one that measures.
 */
process.on('disconnect', () => process.exit(1))
process.on('SIGINT', () => {})
process.channel?.unref()
