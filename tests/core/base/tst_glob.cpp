#include <QTest>

#include "core/base/glob.h"

namespace tst_glob {

using namespace sonde;

class TestGlob : public QObject {
    Q_OBJECT

  private slots:
    /// As Python's fnmatch: by characters, not by bytes; letters of all scripts have a case.
    void globsTakeCharacters() {
        QVERIFY(base::globMatches("Größe_[Α-Ω]?", "größe_σ€", true));
        QVERIFY(!base::globMatches("Größe_*", "größe_1", false));
        QVERIFY(base::globMatches("a?c", "aéc", false) && !base::globMatches("a??c", "aéc", false));
        QVERIFY(base::globMatches("[!é]", "è", false) && !base::globMatches("[!é]", "é", false));
        QVERIFY(base::globMatches("\xff*", "\xff\xfe", false) && !base::globMatches("\xff", "\xfe", false));
    }

    /// What fnmatch.fnmatchcase() of Python 3.11 answers.
    void setsAndStarsAreThoseOfFnmatch() {
        QVERIFY(base::globMatches("layers.[0-3].attn", "layers.2.attn", false));
        QVERIFY(!base::globMatches("layers.[0-3].attn", "layers.4.attn", false));
        QVERIFY(base::globMatches("*.attn", "layers.2.attn", false) && !base::globMatches("*.attn", "attn", false));
        QVERIFY(base::globMatches("a[b", "a[b", false) && base::globMatches("[]]", "]", false));
        QVERIFY(base::globMatches("**a*", "bab", false) && !base::globMatches("", "a", false));
        QVERIFY(base::globMatches("", "", false) && base::globMatches("*", "", false));
    }
};

QTEST_GUILESS_MAIN(TestGlob)

}  // namespace tst_glob

#include "tst_glob.moc"
