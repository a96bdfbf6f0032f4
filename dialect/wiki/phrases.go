package wiki

import (
	"regexp"
	"slices"
	"strings"
)

// A phrase is what people write, but for the same words in another sense.
type phrase struct {
	stems   []string // one of which it has, in lower case: most sentences are told from that
	is, not *regexp.Regexp
}

func words(stems, is, not string) phrase {
	w := phrase{stems: strings.Split(stems, ","), is: regexp.MustCompile(`(?i)` + is)}
	if not != "" {
		w.not = regexp.MustCompile(`(?i)` + not)
	}
	return w
}

// in reports whether a text holds the phrase in its sense. Lower is the text in
// lower case.
func (w phrase) in(s, lower string) bool {
	if !slices.ContainsFunc(w.stems, func(stem string) bool { return strings.Contains(lower, stem) }) {
		return false
	}
	if w.not != nil {
		s = w.not.ReplaceAllString(s, " ")
	}
	return w.is.MatchString(s)
}

// A book has what conclusions are read by.
type book struct {
	titles    [parts]phrase   // what headings and labels call the parts
	phrases   [parts][]phrase // how people speak of a part in a sentence
	concludes phrase          // how people begin to say what they found
	ends      phrase          // how people say that they are done, which is no finding
}

// newBook returns the book. It takes some milliseconds, which only those pay who
// serve this dialect.
func newBook() *book {
	return &book{titles: titles(), phrases: phrases(), concludes: concludes(), ends: ends()}
}

func titles() [parts]phrase {
	return [parts]phrase{
		synthesis: words(`synthes,summar,found,finding,conclu,result,outcome,answer,decision,verdict,recommend,takeaway,dr,short,line,cause`,
			`\b(synthesis|synthesi[sz]ed?|summary|findings?|found|conclusions?|results?|outcome|answer|decision|verdict|recommendation|takeaways?|tl;?dr|in short|bottom line|root cause)\b`, ``),
		compliance: words(`compl,instruct,require,checklist,constraint,brief,guideline`,
			`\b(complian\w+|compl(y|ied)|instructions?|requirements?|checklist|constraints?|the brief|guidelines)\b`, `instruction set`),
		shortcuts: words(`cut,hack,corner,work,simplif,skipped,easy,omission`,
			`\b(short-?cuts?|hacks?|corners?( cut)?|work-?arounds?|simplifications?|skipped|easy way|omissions?)\b`, `keyboard short-?cuts?`),
		risks: words(`risk,uncertain,unknown,caveat,limitation,concern,worr,open,doubt,wrong,downside,danger,threat`,
			`\b(risks?|uncertain\w*|unknowns?|caveats?|limitations?|concerns?|worr(y|ies)|open (questions?|issues?|points?)|doubts?|go wrong|downsides?|dangers?|threats?)\b`, `risk-free`),
		sources: words(`source,refer,citation,cited,bibliography,see also,reading,evidence,where,literature,based,ref,material`,
			`\b(sources?|references?|citations?|cited|bibliography|see also|further reading|evidence|where it comes from|literature|based on|refs?|material)\b`,
			`open[- ]source|(data|power|light|event) sources?$|source code`),
	}
}

func concludes() phrase {
	return words(`determined,conclu,found,finding,result,recommend,decid,decision,answer,outcome,cause,culprit,in short,summary,to sum up,show,we ,i suggest,wins,therefore,turn,prove,should,must be`,
		`\b(determined|conclude[ds]?|conclusion|found( out)? that|found \x{E000}|we found|i found|findings?|results? (is|are|was|were|shows?)|recommend\w*|decided|decision|the answer|outcome|root cause|culprit|in short|in summary|to sum up|shows? that|showed that|we (go|went) with|we should|i suggest|we suggest|wins over|therefore|turns? out|proves? that|proved|should be|should become|must be)\b`, ``)
}

func ends() phrase {
	return words(`done,finished,complete,thank,ready,concluded`,
		`^\W*(all |i am |i'm |now )?(done|finished|complete[d]?|thanks?|thank you|ready)\b|\b(is|are|am) (now )?(done|finished|complete|concluded)( now)?\W*$`, ``)
}

func phrases() [parts][]phrase {
	return [parts][]phrase{
		compliance: {
			words(`instruct`, `\binstruct(ions?|ed)\b`,
				`instruction (set|cache|pointer|manual)s?|(installation|assembly|cooking|machine|cpu) instructions?`),
			words(`compl`, `\bcompl(y|ied|ies|iance|iant)\b`,
				`(?-i:\b[A-Z][A-Z0-9]+)[ -](?i:complian(t|ce))|\x{E000}\s*complian(t|ce)|complian(t|ce) (officer|team|department|law|regulation|audit|software)s?`),
			words(`as `, `\bas (was |were |i was |we were )?(asked|requested|told|specified|required|ordered|agreed)\b`, ``),
			words(`what `, `\bwhat (was|i was|you|the user|the brief) (asked|requested|wanted|required)\b|\bto what was asked\b`, ``),
			words(`brief,asked,request`, `\bthe brief\b|\bwas asked\b|\bwere asked\b|\bthe request\b`, ``),
			words(`stuck,sticking,kept,keeping,held,adher,conform`, `\b(stuck|sticking|kept|keeping|held|adher\w+|conform\w*) (strictly |closely )?to\b`,
				`stuck to the|kept to (himself|herself|itself|themselves|myself)`),
			words(`stuck`, `\bstuck to the (constraints?|brief|rules?|instructions?|plan|scope|format|guidelines?)\b`, ``),
			words(`requirement`, `\brequirements? (are|were|was|is|check|met|fulfilled|satisfied)|\b(met|meets|fulfilled|satisf\w+) (all |every |the |your )*requirements?\b`, ``),
			words(`followed`, `\bfollowed\b`, `\b(be|been|is|are|was|were|being|then|closely) followed\b|\bfollowed (by|up|from|suit)\b`),
			words(`respected,obeyed,honored,honoured`, `\b(respected|obeyed|honou?red)\b`, `\b(well|highly|widely)[- ]respected\b`),
			words(`did `, `\bdid (exactly )?what (i|we|the|you|was)\b`, ``),
			words(`set,gave,given,list,asked,agreed,wanted`,
				`\b(protocol|steps|rules?|format|limits?|constraints?|checklist|scope) (that )?(you|i was|was|were|we were) (set|gave|given|list(ed)?|asked|agreed|wanted)\b`, ``),
			words(`per `, `\b(as )?per (the|your) (instructions?|requests?|spec\w*|brief|rules|guidelines?)\b`, ``),
			words(`instruction,constraint,requirement,rule`, `\b(every|all|each) (of the )?(instruction|constraint|requirement|rule)s?\b`, ``),
		},
		shortcuts: {
			words(`cut`, `\bshort-?cuts?\b`,
				`\b(keyboard|desktop|menu|browser|app|siri|start-?menu) short-?cuts?|short-?cut (keys?|menus?|icons?|bars?|overlays?|app)`),
			words(`hack`, `\bhack(s|y|ish)?\b`, `\b(growth|life|brain) hacks?\b`),
			words(`around,dirty,stop,kludg,fudg`, `\bwork-?arounds?\b|\bquick[- ](and|&|n)[- ]dirty\b|\bstop-?gaps?\b|\bkludg\w+|\bfudg(e|ed|ing)\b`, ``),
			words(`corner`, `\bcut(ting)?( \w+)? corners?\b|\bcorners?( were| was)? cut\b`, ``),
			words(`the easy,the short,the quick,the lazy`, `\b(took|take|taking|taken|chose|went) the (easy|short|quick|lazy)\w*\b`, ``),
			words(`skipped`, `\b(i|we|was|were|is|also|deliberately|nothing|just|but|and) skipped\b|^\W*skipped\b`, ``),
			words(`simplified,approximated,rounded,guessed,assumed,estimated,extrapolated,eyeballed,cheated,glossed,ignored,coded,stubbed,faked,waved,omitted,sampled,judged`,
				`\b(i|we) (\w+ )?(simplified|over-?simplified|approximated|rounded|guessed|assumed|estimated|extrapolated|eyeballed|cheated|glossed|ignored|hard-?coded|stubbed|faked|hand-?waved|omitted|sampled|judged)\b`, ``),
			words(`coded,simplif,guessed,assumed,estimated,approximated,omitted,left out,faked,stubbed`,
				`\bhard-?coded\b|\bsimplif(ied by|ication)\b|\b(was|were) (guessed|assumed|estimated|approximated|simplified|omitted|left out|faked|stubbed)\b`, ``),
			words(`without,rather than`, `\bwithout (measuring|verifying|checking|testing|confirming|looking|validating)\b|\brather than (measured|verified|checked|looked up|tested)\b`, ``),
			words(`save time,lack of time,hurry,rush,skim,guess,from memory,park,envelope,trusted,took,copied,borrowed,lumped,reused,good enough`,
				`\bto save time\b|\b(for|out of) lack of time\b|\bin a hurry\b|\brushed\b|\bskimm?ed\b|\b(rough|educated|wild) guess\b|\bguesswork\b|\bfrom memory\b|\bball-?park\b|\bback[- ]of[- ]the[- ]envelope\b|\b(i|we) (simply |just )?(trusted|took \w+ word|copied|borrowed|lumped|reused)\b|\bgood enough\b`, ``),
			words(`not,n't,never`,
				`\b(i|we) (\w+ )?(did not|didn't|have not|haven't|could not|couldn't|never) (\w+ )?(verif\w*|check\w*|test\w*|measur\w*|model\w*|look\w*|read|tr(y|ied)|benchmark\w*|validat\w*|profil\w*)\b`, ``),
			words(`only`,
				`\b(i|we) only (\w+ )?(looked|read|tested|tried|checked|simulated|skimmed|sampled)\b|\b(i|we) (looked|read|tested|tried|checked|skimmed) (at )?only\b|\bonly \w+( of the \w+)? \w+ (was|were) (tried|tested|checked|read|simulated|looked at)\b`, ``),
		},
		risks: {
			words(`risk`, `\brisk(s|y|ier)?\b`,
				`risk-free|risk-averse|risk averse|\bat the risk of\b|\brisk (appetite|model|premium|management|department|team|manager)s?\b|de-risk`),
			words(`uncertain,unclear,unsure,unknown,unproven,untested,unverified,unresolved`,
				`\buncertain(ty|ties)?\b|\bunclear\b|\bunsure\b|\bunknowns?\b|\bunproven\b|\buntested\b|\bunverified\b|\bunresolved\b`, ``),
			words(`not ,cannot,can't,nobody`, `\bnot (\w+ )?(sure|certain|clear|known|proven)\b|\bcannot (say|tell|know|rule out)\b|\bcan't (say|tell|rule out)\b|\bnobody knows\b`, ``),
			words(`caveat,limitation,downside,drawback,pitfall,danger,threaten,single point`,
				`\bcaveats?\b|\blimitations?\b|\bdownsides?\b|\bdrawbacks?\b|\bpitfalls?\b|\bdanger(s|ous)?\b|\bthreatens?\b|\bsingle point of failure\b`, ``),
			words(`concern,worr,doubt`, `\bconcern(s|ed|ing)? (is|are|about|that)\b|\b(my|our|main|one|biggest|a|some) (concern|worry|doubt)s?\b|\bworr(y|ies|ied|ying)\b`, ``),
			words(`open ,remain`, `\bopen (question|issue|point)s?\b|\bremains? (unclear|open|to be seen|unknown)\b`, ``),
			words(`might,may,possibl,with care,guarante,sensitive,depends,assum,if ,edge case`,
				`\bmight\b|(?-i:\bmay\b)|\b(it's|it is) (well )?possible\b|\bpossibly\b|\bwith care\b|\bno guarantee\b|\bnot guaranteed\b|\bsensitive to\b|\bdepends (up)?on (whether|how|who|the)\b|\bassum(es|ing|ption)s?\b|\bif\b.{3,80}\b(will|would|no longer|has to|have to|must|falls?|collapses?|flips|breaks|fails|changes)\b|\bedge cases?\b`, ``),
			words(`could`,
				`\bcould (\w+ )?(break|fail|go wrong|change|hurt|starve|become|not|flip|drive|reorder|reject|lose|leak|cause|regress|slow|grow|be (wrong|other|too|missing|slow|off|stale|different|a|an))\b`, ``),
			words(`there,confidence,correlation`,
				`\b(there's|there is) (a |some )?(chance|danger|possibility|doubt)\b|\bconfidence (is|in|:)|\b(low|medium|moderate|limited|high) confidence\b|\bcorrelation only\b`, ``),
		},
		sources: {
			words(`source`,
				`\b(my|our|primary|main|secondary|further|used|these|the|following|no (other|external|outside)|all) sources?( (is|are|was|were|used|consulted|cited|include[ds]?|:)|\W*$)`,
				`(data|power|light|open|event) sources?|sources? (of|code|were harmed)`),
			words(`source`, `\bsources? (used|consulted|cited|include[ds]?)\b|^\W*sources?\W*$`, `no sources were harmed`),
			words(`on `,
				`\b(based|building|built|rests?|drawing|drawn|draws|drew|rel(y|ied|ies|ying)) (up)?on (the |my |our |an? )?(\w+ )?(\x{E000}|\x{E001}|\x{E002}|notes?|docs?|documentation|papers?|logs?|data|manual|interviews?)`, ``),
			words(`from`, `\b(figures|numbers|data|facts) (are |is |come |comes )?from\b|\b(taken|came|comes|come|evidence|derived|learned|known|quoted) from\b.*(\x{E000}|\x{E001}|\x{E002})`, ``),
			words(`to,per,see,cf,cit,consulted,reading,quoting`,
				`\b(according to|as per|see|see also|cf\.?|cited|citing|consulted|reading|quoting|per) (the )?(\x{E000}|\x{E001}|\x{E002})`, ``),
		},
	}
}
