// Tags and how many jobs have each.
import { tags } from '../api.ts'
import { useLive } from '../live.ts'
import { Command, Count, Empty, ErrorNote, Head, Name, Skeleton } from '../parts/basics.tsx'
import { Pager, Table } from '../parts/table.tsx'
import { param, setQuery, to } from '../route.ts'

const PAGE = 100

export function Tags() {
  const offset = Number(param('offset')) || 0
  const { data, error, again } = useLive('tags\n' + offset, (signal) => tags.list({ offset, count: PAGE }, signal), 2000)
  const head = <Head title="Tags" />
  if (error && !data) return <>{head}<ErrorNote error={error} again={again} /></>
  if (!data) return <>{head}<Skeleton /></>
  if (data.length === 0) return <>{head}<Empty title="No tag has two jobs"><p>A tag is listed as soon as two jobs have it. Tags find jobs again, whatever their queue:</p><Command text={`sluice put mail Send '{"to":"ann"}' --tag newsletter`} /></Empty></>
  return (
    <>
      {head}
      <Table caption="Tags" rows={data} rowKey={(t) => t.tag} rowHref={(t) => to(['jobs'], { tag: t.tag })} noun="tag" columns={[
        { name: 'Tag', head: 'Tag', cell: (t) => <a href={to(['jobs'], { tag: t.tag })}><Name text={t.tag} /></a> },
        { name: 'Jobs', head: 'Jobs', num: true, cell: (t) => <Count n={t.count} /> },
      ]} />
      <Pager offset={offset} size={PAGE} total={null} shown={data.length} go={(o) => setQuery({ offset: o ? String(o) : null })} />
    </>
  )
}
