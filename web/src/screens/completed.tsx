// Complete jobs, the newest first.
import { jobs } from '../api.ts'
import { plural } from '../format.ts'
import { useLive } from '../live.ts'
import { Head } from '../parts/basics.tsx'
import { param } from '../route.ts'
import { JobList } from './jobs.tsx'

export function Completed() {
  const queue = param('queue')
  const { data } = useLive('complete-count\n' + queue, (signal) => jobs.count({ state: 'complete', queue }, signal))
  return (
    <>
      <Head title="Completed" lead={data !== undefined && plural(data, 'complete job') + ' kept'} />
      <JobList filter={{ state: 'complete', ...(queue ? { queue } : {}) }} counts={data ?? null} />
    </>
  )
}
