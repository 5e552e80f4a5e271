-- The schema `leat`, second part: who may do what, and how often. docs/security.md says what each
-- limit is for. These functions are the owner's: those that workers call, and the coordinator's, use
-- them.

-- ---- Sessions ----------------------------------------------------------------------------------

-- What a machine's key proves is kept as a hash.
create function leat.secret_hash(p_secret text) returns text
language sql immutable as $$
  select encode(sha256(convert_to(coalesce(p_secret, ''), 'UTF8')), 'hex')
$$;

-- The word of this session; null: it has none. A login may give all of its sessions settings, but not
-- one and the same process.
create function leat.session_word() returns text
language sql volatile as $$
  select s.word from (select current_setting('leat.session', true) as word) s
  where s.word like pg_backend_pid() || '/%'
$$;

-- From now on a machine of this caller works in this session alone.
create function leat.bind(p_machine text) returns void
language plpgsql as $$
declare
  word_ text := leat.session_word();
begin
  if word_ is null then
    word_ := format('%s/%s', pg_backend_pid(), gen_random_uuid());
    perform set_config('leat.session', word_, false);
  end if;
  update leat.machine m set session = word_, seen_at = leat.clock()
  where m.account = session_user and m.id = p_machine;
end $$;

-- Whether a machine of this caller works in this session. Locks nothing.
create function leat.is_bound(p_machine text) returns boolean
language sql volatile as $$
  select exists (select from leat.machine m where m.account = session_user and m.id = p_machine
                 and m.session = leat.session_word())
$$;

-- ---- What happened -----------------------------------------------------------------------------

-- The last 500 of each account and kind are kept: what an account reports removes nothing of others,
-- nor of what the coordinator says of it.
create function leat.note(p_run bigint, p_kind text, p_account name, p_machine text, p_words text)
returns void
language plpgsql as $$
begin
  insert into leat.event (run, kind, account, machine, words)
  values (p_run, p_kind, p_account, p_machine, left(p_words, 500));
  delete from leat.event where id in (
    select e.id from leat.event e where e.account = p_account and e.kind = p_kind
    and e.id <= (select x.id from leat.event x where x.account = p_account and x.kind = p_kind
                 order by x.id desc offset 500 limit 1)
    for update skip locked);
end $$;

-- ---- Suspended logins --------------------------------------------------------------------------

-- Whether a machine was heard of in the last two minutes.
create function leat.is_active(m leat.machine) returns boolean
language sql volatile as $$
  select leat.holds(m.seen_at + interval '2 minutes', 120000)
$$;

-- Whether others than an account work on a run. Limits of an account protect them: one that is alone
-- harms nobody.
create function leat.others_work(p_run bigint, p_account name) returns boolean
language sql volatile as $$
  select exists (select from leat.machine m where m.run = p_run and m.account <> p_account
                 and leat.is_active(m))
$$;

-- Why whoever calls gets no units of a run now; null: it does. Locks nothing.
create function leat.suspended(p_run bigint) returns text
language sql volatile as $$
  select 'this login gets no units until ' || to_char(a.suspended_until at time zone 'UTC',
         'YYYY-MM-DD HH24:MI "UTC"') || ': ' || a.suspended_for
  from leat.account a where a.name = session_user and leat.holds(a.suspended_until, 3600000)
    and leat.others_work(p_run, session_user)
$$;

-- Why whoever calls may do nothing with a lease of its own now; null: it may. Asked before any lock
-- is taken: whoever is suspended for blocking a run blocks it no more.
create function leat.kept_from(p_lease bigint, p_epoch bigint) returns text
language sql volatile as $$
  select coalesce(leat.suspended(l.run), case when l.epoch = p_epoch and not leat.is_bound(l.machine)
                  -- the text that LEAT_DATABASE_CLONED is
                  then 'another process works as this machine' end)
  from leat.lease l where l.lease = p_lease and l.account = session_user
$$;

-- Asked again after each wait for a lock, because the login may have been suspended meanwhile: an
-- error undoes what was locked. The worker tries again, and is told.
create function leat.stop_suspended(p_run bigint) returns void
language plpgsql as $$
declare
  why_ text := leat.suspended(p_run);
begin
  if why_ is not null then
    raise exception 'leat: %', why_ using errcode = 'lock_not_available';
  end if;
end $$;

-- An account gets no units for an hour, and its leases end. Waits for nobody: what a session of the
-- account has locked ends with that session, or is given to others when it is late.
create function leat.suspend(p_run bigint, p_account name, p_why text) returns void
language plpgsql as $$
declare
  l record;
begin
  update leat.account set suspended_until = leat.clock() + interval '1 hour', suspended_for = p_why
  where name = p_account;
  for l in select x.lease, x.run, x.step, x.unit from leat.lease x where x.run = p_run
           and x.account = p_account and x.state = 'live' order by x.step, x.unit
           for update skip locked loop
    perform from leat.unit u where (u.run, u.step, u.unit) = (l.run, l.step, l.unit)
      for update skip locked;
    continue when not found;
    perform leat.put_back(l.lease, 'released', 'the login is suspended');
  end loop;
end $$;

-- The coordinator's judgement of a result: 20 refused ones within an hour suspend an account.
create function leat.count_refusal(p_run bigint, p_account name, p_mismatch boolean) returns void
language plpgsql as $$
declare
  often_ boolean;
begin
  insert into leat.account (name) values (p_account) on conflict do nothing;
  update leat.account a set refused = refused + 1, mismatched = mismatched + p_mismatch::integer,
    refusals = case when leat.holds(refusals_since + interval '1 hour', 3600000)
                    then refusals + 1 else 1 end,
    refusals_since = case when leat.holds(refusals_since + interval '1 hour', 3600000)
                          then refusals_since else leat.clock() end
  where name = p_account returning a.refusals >= 20 into often_;
  if often_ and leat.others_work(p_run, p_account) then
    perform leat.suspend(p_run, p_account, '20 of its results were refused within an hour');
  end if;
end $$;

-- An account has blocked the run (p_words says how). The third time within an hour it is suspended
-- for an hour, where others work: true. A login that is dropped is no account. Who holds no run
-- (p_fence is 0), and waits for one, may say so, too. Waits for no lock that a volunteer can have.
create function leat.blame(p_run bigint, p_fence bigint, p_epoch bigint, p_account name,
                           p_words text) returns boolean
language plpgsql as $$
declare
  r leat.run;
  often_ boolean;
begin
  select * into r from leat.run where id = p_run;
  if not found or (p_fence <> 0 and (r.fence <> p_fence or r.epoch <> p_epoch)) then
    raise exception 'leat: "%" has taken over the run', r.coordinator using errcode = 'LT001';
  end if;
  perform leat.note(p_run, 'blocked', p_account, null, p_words);
  insert into leat.account (name) select p_account from pg_roles where rolname = p_account
  on conflict do nothing;
  update leat.account a set blocks = case when leat.holds(blocks_since + interval '1 hour', 3600000)
                                          then blocks + 1 else 1 end,
    blocks_since = case when leat.holds(blocks_since + interval '1 hour', 3600000)
                        then blocks_since else leat.clock() end
  where name = p_account returning a.blocks >= 3 into often_;
  if not coalesce(often_, false) or not leat.others_work(p_run, p_account) then return false; end if;
  perform leat.suspend(p_run, p_account, 'it blocked the run three times within an hour');
  return true;
end $$;

-- A login may connect no more; '': done. Otherwise the statement with which an administrator does it.
-- Not for those who are trusted (leat.is_trusted). A transaction in which the login has changed
-- itself keeps others from doing so: its sessions are ended, where this login may, before each try.
create function leat.keep_out(p_account name) returns text
language plpgsql as $$
declare
  line_ text := format('ALTER ROLE %I NOLOGIN', p_account);
  done_ boolean := false;
begin
  if not exists (select from pg_roles where rolname = p_account and not leat.is_trusted(oid)) then
    return '';
  end if;
  perform set_config('lock_timeout', '500ms', true);
  for i in 1 .. 4 loop
    begin
      perform pg_terminate_backend(a.pid) from pg_stat_activity a where a.usename = p_account;
    exception
      when insufficient_privilege then null;
    end;
    exit when done_; -- those that came meanwhile are ended, too
    begin
      execute line_;
      done_ := true;
    exception
      when insufficient_privilege then return line_;
      when lock_not_available or internal_error then null;
    end;
  end loop;
  return case when done_ then '' else line_ end;
end $$;

-- ---- How many units and bytes ------------------------------------------------------------------

-- How many leases of an account ended without a result in the open step, if they are too many: they
-- cost others time. Each unit may cost an account three, and sixteen more. Null: they are not.
create function leat.lapses(r leat.run, p_account name) returns bigint
language sql volatile as $$
  select count(*) from leat.lease l
  where l.run = r.id and l.step = r.step and l.account = p_account
    and l.state in ('released', 'expired', 'failed', 'refused')
  having count(*) >= 16 + 3 * (select count(*) from leat.unit u
                               where u.run = r.id and u.step = r.step)
$$;

-- Whether an account gets no units of the open step, whatever it asks: nobody waits for it.
create function leat.is_barred(r leat.run, p_account name) returns boolean
language sql volatile as $$
  select (exists (select from leat.account a where a.name = p_account
                  and leat.holds(a.suspended_until, 3600000))
          or leat.lapses(r, p_account) is not null) and leat.others_work(r.id, p_account)
$$;

-- Why whoever calls gets no more units of the open step; null: it does.
create function leat.lapsed(r leat.run) returns text
language plpgsql as $$
declare
  lapses_ bigint := leat.lapses(r, session_user);
begin
  if lapses_ is null or not leat.others_work(r.id, session_user) then return null; end if;
  return format('this login has had %s units of step %s without a result; it gets others with the '
                'next step', lapses_, r.step + 1);
end $$;

create function leat.parts(r leat.run) returns bigint
language sql immutable as $$
  select (r.payload_bytes + r.part_bytes - 1) / r.part_bytes
$$;

-- What counts the parts that this caller sends. A transaction that is undone does not undo a
-- sequence, but would undo its creation: so there is one before anything can be sent (count_part).
create function leat.make_meter() returns void
language plpgsql as $$
declare
  id_ bigint;
begin
  if exists (select from leat.meter where account = session_user) then return; end if;
  insert into leat.meter (account) values (session_user) on conflict do nothing
  returning id into id_;
  if id_ is not null then
    execute format('create sequence leat.sent_%s minvalue 0 start 0', id_);
  end if;
end $$;

-- Whoever removes a machine does not take from its login what that was given.
create function leat.keep_granted() returns trigger
language plpgsql as $$
begin
  update leat.meter set granted = granted + old.granted where account = old.account;
  return null;
end $$;

create trigger keep_granted after delete on leat.machine for each row when (old.granted > 0)
  execute function leat.keep_granted();

-- Counts a part that this caller sends, for good; null: it may send it. Undone transactions, too, leave
-- their parts on disk for a while: as many as four results for each unit that it was given, and for
-- 256 more. What it has not used of that is not saved for later. The count is never set back: units
-- that an undone transaction was given are not counted, what it has sent is.
create function leat.count_part(r leat.run) returns text
language plpgsql as $$
declare
  meter_ leat.meter;
  free_ bigint := 256 * leat.parts(r);
  most_ bigint;
  sent_ bigint;
begin
  select * into meter_ from leat.meter where account = session_user;
  if not found or meter_.born = pg_current_xact_id_if_assigned() then
    return 'a login is registered in a transaction of its own';
  end if;
  select 4 * (meter_.granted + coalesce(sum(m.granted), 0)) + free_ into most_ from leat.machine m
  where m.account = session_user;
  execute format('select last_value from leat.sent_%s', meter_.id) into sent_;
  if sent_ < most_ - 2 * free_ then
    sent_ := most_ - free_;
    perform setval(format('leat.sent_%s', meter_.id), sent_);
  end if;
  if sent_ >= most_ then
    return 'this login has sent more than four results for each unit that it was given';
  end if;
  perform nextval(format('leat.sent_%s', meter_.id));
  return null;
end $$;

-- ---- Leases ------------------------------------------------------------------------------------

-- Ends the leases of a machine that are live, but for one.
create function leat.end_leases(p_run bigint, p_machine text, p_kept bigint, p_state text,
                                p_reason text) returns void
language plpgsql as $$
declare
  l record;
begin
  for l in select lease.lease, lease.run, lease.step, lease.unit from leat.lease
           where state = 'live' and account = session_user and machine = p_machine
             and run = p_run and lease.lease is distinct from p_kept order by lease.step, lease.unit loop
    perform leat.end_lease(l.lease, p_state, p_reason);
  end loop;
end $$;

-- Ends one lease, if it is live, and puts its unit back if nobody else has it.
create function leat.end_lease(p_lease bigint, p_state text, p_reason text) returns boolean
language plpgsql as $$
declare
  l leat.lease;
begin
  select * into l from leat.lease where lease = p_lease;
  if not found then return false; end if;
  perform from leat.run where id = l.run for share;
  perform leat.stop_suspended(l.run);
  perform from leat.unit u where (u.run, u.step, u.unit) = (l.run, l.step, l.unit) for update;
  return leat.put_back(p_lease, p_state, p_reason);
end $$;

-- The rest of it, once its unit is locked.
create function leat.put_back(p_lease bigint, p_state text, p_reason text) returns boolean
language plpgsql as $$
declare
  l leat.lease;
begin
  update leat.lease set state = p_state, reason = left(p_reason, 200), ended_at = leat.clock()
  where lease = p_lease and state = 'live' returning * into l;
  if not found then return false; end if;
  update leat.unit u set state = 'ready'
  where (u.run, u.step, u.unit) = (l.run, l.step, l.unit) and u.state = 'out'
    and not exists (select from leat.lease o where (o.run, o.step, o.unit) =
                    (l.run, l.step, l.unit) and o.state = 'live');
  return true;
end $$;

-- Whether a lease is this caller's and live, locked; why not, in words.
create function leat.lock_lease(p_lease bigint, p_epoch bigint, out l leat.lease, out why text)
language plpgsql as $$
begin
  -- nobody can lock the lease of another account, or of another machine (leat.kept_from)
  select * into l from leat.lease x where x.lease = p_lease and x.account = session_user
    and x.epoch = p_epoch for update;
  perform leat.stop_suspended(l.run);
  if l.lease is null then
    why := case when exists (select from leat.lease x where x.lease = p_lease
                             and x.account = session_user)
           then 'another lease has its number now: the database went back'
           else 'there is no such lease' end;
  elsif l.state <> 'live' then
    why := case l.state when 'used' then 'the result was accepted already'
      -- the texts that LEAT_DATABASE_SLOWER and LEAT_DATABASE_CLONED are
      when 'superseded' then 'another machine was faster'
      when 'expired' then 'the lease ended, and another machine has the unit'
      when 'refused' then 'the result was refused: ' || l.reason
      when 'released' then case l.reason
        when 'the machine began anew' then 'another process works as this machine'
        when 'the machine does not know of it' then 'another process works as this machine'
        else 'the lease ended (released)' end
      else 'the lease ended (' || l.state || ')' end;
  end if;
end $$;

-- Whoever renews for ever and never hands in keeps a unit, and its place, only from nobody: ends a
-- lease that lasts too long, and says why. Comes before the lease is locked, because a unit is locked
-- before its leases.
create function leat.end_overdue(p_lease bigint, p_epoch bigint) returns text
language plpgsql as $$
declare
  l leat.lease;
  r leat.run;
begin
  select * into l from leat.lease x where x.lease = p_lease and x.epoch = p_epoch
    and x.account = session_user and x.state = 'live';
  if not found then return null; end if;
  select * into r from leat.run where id = l.run;
  if leat.clock() - l.granted_at <= greatest(r.lease_ms, 20 * leat.median_ms(r.id, l.step)) *
     interval '1 millisecond' or not leat.others_work(r.id, session_user) then
    return null;
  end if;
  if not leat.end_lease(p_lease, 'expired', 'it lasted too long') then return null; end if;
  return 'the unit takes this machine twenty times as long as it usually takes';
end $$;

-- ---- Sessions that block -----------------------------------------------------------------------

-- Whether a login is an administrator's, a member of the owner, or not known.
create function leat.is_trusted(p_role oid) returns boolean
language sql volatile as $$
  select coalesce(pg_has_role(p_role, (select nspowner from pg_namespace where nspname = 'leat'),
                              'member'), true)
$$;

-- Those for which a coordinator with this login waits, and which wait for nobody: they alone can be
-- waited for in vain. Coordinators are known by their login and name. A transaction has another name
-- each time; those of administrators, of members of the owner and of the server itself are trusted. A
-- login may have been dropped meanwhile: its number (role_) remains. waits_: the statement at which the
-- coordinator itself waits, by another name each time; '': it does not, but its renewer does. A
-- transaction that was prepared has no session: process is 0, and its name that of
-- leat.rollback_prepared.
create function leat.blockers(p_most integer)
returns table (process integer, account name, transaction_ text, trusted boolean, role_ bigint,
               waits_ text)
language sql volatile as $$
  with recursive chain (pid, waits) as (
    select a.pid, case when a.application_name = 'leat coordinate'
                       then a.pid || ' ' || a.query_start else '' end
    from pg_stat_activity a
    where a.datname = current_database() and a.usename = session_user
      and a.application_name like 'leat coordinate%'
    union select of.pid, chain.waits from chain, unnest(pg_blocking_pids(chain.pid)) of (pid)),
  sessions as (
    select a.pid, coalesce(a.usename, left('dropped role ' || a.usesysid, 63)::name),
           coalesce((select min(l.virtualtransaction) from pg_locks l where l.pid = a.pid), ''),
           a.usesysid is null or (a.usename is not null and leat.is_trusted(a.usesysid)),
           coalesce(a.usesysid::bigint, 0), max(chain.waits)
    from chain join pg_stat_activity a using (pid)
    where a.usename is distinct from session_user and cardinality(pg_blocking_pids(a.pid)) = 0
    group by a.pid, a.usename, a.usesysid),
  prepared as (
    select 0, p.owner, p.transaction::text, o.oid is null or leat.is_trusted(o.oid),
           coalesce(o.oid::bigint, 0), max(chain.waits)
    from chain join pg_locks w on w.pid = chain.pid and not w.granted
    join pg_prepared_xacts p on p.transaction = w.transactionid or (
      -- a table that is dropped or emptied: every lock on it is in the way
      w.mode = 'AccessExclusiveLock' and exists (
        select from pg_locks t join pg_locks h using (virtualtransaction)
        where t.pid is null and h.pid is null and t.transactionid = p.transaction and t.granted
        and h.locktype = 'relation' and (h.database, h.relation) = (w.database, w.relation)))
    left join pg_roles o on o.rolname = p.owner
    where p.database = current_database()
    group by p.owner, p.transaction, o.oid)
  select * from sessions union all select * from prepared order by 1 limit p_most
$$;

-- Ends the sessions of a login that have locks in this schema as writers have, or are in the named
-- transaction; p_all: all that it has in this database. How many there were.
create function leat.end_sessions(p_role bigint, p_process integer, p_transaction text, p_all boolean)
returns bigint
language sql volatile as $$
  select count(*) filter (where pg_terminate_backend(a.pid)) from pg_stat_activity a
  where a.datname = current_database() and a.usesysid = p_role::oid and (p_all or exists (
    select from pg_locks l where l.pid = a.pid and (
      (a.pid = p_process and l.virtualtransaction = p_transaction) or
      (l.locktype = 'relation' and l.mode <> 'AccessShareLock' and l.granted
       and l.database = (select d.oid from pg_database d where d.datname = current_database())
       and l.relation in (select c.oid from pg_class c
                          where c.relnamespace = 'leat'::regnamespace)))))
$$;

-- Ends sessions of volunteers in this database that block nobody, and harm the server: with thousands
-- of locks other than on tables (each savepoint may have one), of which the server has one table for
-- all; or in a transaction that is idle, or does one thing, for too long, because what it sees is not
-- cleaned up meanwhile. Those of logins that make backups, members of pg_read_all_data or with
-- REPLICATION, may take long. Nothing where this login may not end sessions of others.
create function leat.end_greedy(p_locks bigint, p_idle_ms bigint, p_active_ms bigint)
returns table (process integer, account name, hoards boolean, why text)
language sql volatile as $$
  with held as (
    select l.pid, count(*) as locks from pg_locks l where l.locktype <> 'relation' group by l.pid),
  greedy as materialized (
    select a.pid, a.usename, coalesce(h.locks, 0) as locks,
      (clock_timestamp() - a.xact_start) > interval '1 millisecond' *
        case when a.state like 'idle%' then p_idle_ms else p_active_ms end
      and not o.rolreplication and not exists (select from pg_roles b
        where b.rolname = 'pg_read_all_data' and pg_has_role(o.oid, b.oid, 'member')) as lasts
    from pg_stat_activity a join pg_roles o on o.oid = a.usesysid left join held h using (pid)
    where a.datname = current_database() and a.pid <> pg_backend_pid()
      and not leat.is_trusted(a.usesysid)
      and (select c.rolsuper or pg_has_role(c.oid, 'pg_signal_backend', 'usage') from pg_roles c
           where c.rolname = current_user))
  select g.pid, g.usename, g.locks > p_locks,
    case when g.locks > p_locks then format('it had %s locks', g.locks)
         else 'its transaction was open for too long' end
  from greedy g
  -- only of those: conditions have no order of their own
  where case when g.locks > p_locks or g.lasts then pg_terminate_backend(g.pid) end order by g.pid
$$;

-- The statement that ends a prepared transaction; null: it is gone.
create function leat.rollback_prepared(p_transaction text) returns text
language sql volatile as $$
  select format('ROLLBACK PREPARED %L', p.gid) from pg_prepared_xacts p
  where p.transaction::text = p_transaction and p.database = current_database()
$$;
