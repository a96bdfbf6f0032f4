package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A bill is a list of what programs consist of, in the form of SPDX 2.3.
type bill struct {
	SPDXVersion   string         `json:"spdxVersion"`
	DataLicense   string         `json:"dataLicense"`
	SPDXID        string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	CreationInfo  billCreation   `json:"creationInfo"`
	Packages      []billPackage  `json:"packages"`
	Relationships []billRelation `json:"relationships"`
}

type billCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type billPackage struct {
	SPDXID           string          `json:"SPDXID"`
	Name             string          `json:"name"`
	VersionInfo      string          `json:"versionInfo"`
	DownloadLocation string          `json:"downloadLocation"`
	FilesAnalyzed    bool            `json:"filesAnalyzed"`
	LicenseConcluded string          `json:"licenseConcluded"`
	LicenseDeclared  string          `json:"licenseDeclared"`
	CopyrightText    string          `json:"copyrightText"`
	Purpose          string          `json:"primaryPackagePurpose,omitempty"`
	FileName         string          `json:"packageFileName,omitempty"`
	Checksums        []billChecksum  `json:"checksums,omitempty"`
	ExternalRefs     []billReference `json:"externalRefs,omitempty"`
}

type billChecksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type billReference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type billRelation struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// writeSBOM writes which modules, and which version of Go, are in each program. It reads
// them from the programs.
func (r *release) writeSBOM(context.Context) error {
	const document = "SPDXRef-DOCUMENT"
	base := r.name() + "_" + r.number()
	b := bill{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: document, Name: base,
		Namespace:    homepage + "/releases/download/" + r.version + "/" + base + ".spdx.json",
		CreationInfo: billCreation{r.commit.time.UTC().Format(time.RFC3339), []string{"Tool: " + r.name() + "-internal-release"}},
	}
	modules := make(map[string]bool)
	for _, p := range r.programs {
		info, err := buildinfo.ReadFile(p.path)
		if err != nil {
			return err
		}
		id := "SPDXRef-Program-" + p.goos + "-" + p.goarch
		b.Packages = append(b.Packages, billPackage{
			SPDXID: id, Name: r.name(), VersionInfo: r.number(), DownloadLocation: r.download(r.archive(p)),
			LicenseConcluded: license, LicenseDeclared: license, CopyrightText: "NOASSERTION", Purpose: "APPLICATION", FileName: r.archive(p) + "/" + p.file(r.name()),
			Checksums:    []billChecksum{{"SHA256", fmt.Sprintf("%x", sha256.Sum256(p.content))}},
			ExternalRefs: []billReference{purl(info.Main.Path, info.Main.Version)},
		})
		b.Relationships = append(b.Relationships, billRelation{document, "DESCRIBES", id})
		depend := func(path, version string) {
			to := "SPDXRef-Module-" + identifier(path) + "-" + identifier(version)
			if !modules[to] {
				modules[to] = true
				b.Packages = append(b.Packages, billPackage{
					SPDXID: to, Name: path, VersionInfo: version, DownloadLocation: "NOASSERTION", LicenseConcluded: "NOASSERTION",
					LicenseDeclared: "NOASSERTION", CopyrightText: "NOASSERTION", Purpose: "LIBRARY", ExternalRefs: []billReference{purl(path, version)},
				})
			}
			b.Relationships = append(b.Relationships, billRelation{id, "DEPENDS_ON", to})
		}
		depend("stdlib", strings.TrimPrefix(info.GoVersion, "go"))
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			depend(m.Path, m.Version)
		}
	}
	slices.SortStableFunc(b.Packages, func(x, y billPackage) int { return strings.Compare(x.SPDXID, y.SPDXID) })
	text, err := jsonText(b)
	if err != nil {
		return err
	}
	return r.write(base+".spdx.json", text)
}

func purl(path, version string) billReference {
	return billReference{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}
}

// identifier replaces what an SPDXID may not contain.
func identifier(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' {
			return c
		}
		return '-'
	}, s)
}
