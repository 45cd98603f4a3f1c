"""Cuts the frames of snapshots that make.py made, and packs them. Usage: cut.py FOLDER."""

import gzip, json, os, pickle, re, sys

source, out = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
names=['mlp_before','mlp_after','fragment','streams','expandable','annotations','cpp','oom','state']
figures={}
for n in names:
    d=pickle.load(open(f'{source}/{n}.pickle','rb'))
    frames={}; lists={}
    def cutframes(fs):
        keep=[]
        py=[f for f in fs if f['filename'].endswith('.py')]
        cpp=[f for f in fs if not f['filename'].endswith('.py')]
        chosen=(fs if n=='cpp' else cpp[3:6]+py)
        for f in chosen:
            fn=f['filename']
            fn=re.sub(r'^.*/(?=make\.py$)','',fn); fn=re.sub(r'^.*/((site|dist)-packages/)',r'\1',fn)
            k=(fn,f['line'],f['name'][:80])
            keep.append(frames.setdefault(k,{'name':k[2],'filename':fn,'line':f['line']}))
        k=tuple(map(id,keep))
        return lists.setdefault(k,keep)
    for s in d['segments']:
        if 'frames' in s: s['frames']=cutframes(s['frames'])
        for b in s['blocks']:
            if 'frames' in b: b['frames']=cutframes(b['frames'])
    for t in d['device_traces']:
        for e in t:
            if 'frames' in e: e['frames']=list(cutframes(e['frames']))
    raw=pickle.dumps(d,4)
    with open(f'{out}/{n}.pickle.gz','wb') as f: f.write(gzip.compress(raw,9,mtime=0))
    f=json.load(open(f'{source}/{n}.figures.json')); dev=f['devices'][0]; st=dev['memory_stats']
    figures[n]={k:dev[k] for k in('memory_allocated','memory_reserved')}
    figures[n]['active_bytes']=st['active_bytes.all.current']; figures[n]['requested_bytes']=st['requested_bytes.all.current']; figures[n]['requested_bytes_peak']=st['requested_bytes.all.peak']; figures[n]['reserved_bytes_peak']=st['reserved_bytes.all.peak']
    figures[n]['inactive_split_bytes']=st['inactive_split_bytes.all.current']
    figures[n]['segments']=f['segments'];figures[n]['blocks']=f['blocks'];figures[n]['events']=f['events'][0]
    print(n,len(raw),os.path.getsize(f'{out}/{n}.pickle.gz'))
d=pickle.loads(gzip.decompress(open(f'{out}/mlp_before.pickle.gz','rb').read()))
for p in(2,3,5):
    open(f'{out}/mlp_before_p{p}.pickle.gz','wb').write(gzip.compress(pickle.dumps(d,p),9,mtime=0))
open(f'{out}/mlp_before.json.gz','wb').write(gzip.compress(json.dumps(d).encode(),9,mtime=0))
f=json.load(open(f'{source}/mlp_before.figures.json'))
json.dump({'torch':f['torch'],'gpu':f['gpu'],'python':f['python'],'snapshots':figures},open(f'{out}/figures.json','w'),indent=1)
