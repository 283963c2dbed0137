// lint.mjs FILE: what Redocly's linter finds in a description, with all the rules that it recommends.
// Ends with 1 when it finds anything.
import { createConfig, lint } from '@redocly/openapi-core'

const config = await createConfig({ extends: ['recommended'] })
const problems = await lint({ ref: process.argv[2], config })
for (const { severity, ruleId, message, location } of problems) {
  console.log(`${severity} ${ruleId} ${location[0]?.pointer ?? ''}: ${message}`)
}
process.exit(problems.length ? 1 : 0)
