// References that resources/capture/sonde_capture.py recorded in PyTorch agree with the archives of the same models,
// and with one parameter changed the first node that differs is the right one. Files: tests/data/capture/generate.py.

#include <QtTest>

#include "core/session/session.h"

namespace tst_captured_reference {

using namespace sonde;

namespace {

std::string captured(const QString& name) { return std::string(SONDE_TEST_DATA "/capture/") + name.toStdString(); }

struct Captured {
    const char* name;      ///< of the files
    std::size_t cases;     ///< calls that were recorded
    std::size_t values;    ///< of case 0 that are compared: outputs, and nodes
    std::size_t left;      ///< keys of case 0 without a counterpart
    const char* diverges;  ///< the node of the parameter that is changed in NAME.broken.pt
};

// Counted in the listings of torch.fx, or in the models (tests/capture/capture_models.py) where it cannot trace them.
constexpr Captured kCaptured[] = {
    {"shared", 2, 21, 0, "first_fc2"},   // a module called three times; case 1 is summarised: .shape .stats .head
    {"tagger", 1, 14, 0, "lstm.0"},      // tuples of tuples
    {"tagger_traced", 1, 6, 0, "head"},  // recorded with traced=True
    {"branches", 2, 3, 8, "pre"},        // a branch and a loop on the data: torch.fx cannot trace it
    {"optionals", 1, 6, 0, "fc"},        // a dict of outputs
};

}  // namespace

class TestCapturedReference : public QObject {
    Q_OBJECT

  private slots:
    void agreesWithTheArchive_data() { addRows(); }
    void agreesWithTheArchive();
    void namesTheFirstWrongNode_data() { addRows(); }
    void namesTheFirstWrongNode();

  private:
    static void addRows() {
        QTest::addColumn<int>("row");
        for (std::size_t i = 0; i < std::size(kCaptured); ++i) QTest::newRow(kCaptured[i].name) << static_cast<int>(i);
    }

    static base::Result<document::ReferenceComparison> compare(const Captured& captured, const char* archive) {
        session::Session session;
        const QString name = QString::fromLatin1(captured.name);
        SONDE_TRY(session.open(tst_captured_reference::captured(name + QString::fromLatin1(archive))));
        return session.check(tst_captured_reference::captured(name + QStringLiteral(".npz")));
    }
};

void TestCapturedReference::agreesWithTheArchive() {
    QFETCH(int, row);
    const Captured& captured = kCaptured[row];
    const auto found = compare(captured, ".pt");
    QVERIFY2(found, found ? "" : found.error().text().c_str());
    QCOMPARE(found->cases.size(), captured.cases);
    for (const analysis::ComparedCase& one : found->cases) {
        for (const analysis::ComparedValue& value : one.values) QVERIFY2(value.ok, value.name.c_str());
        QVERIFY(one.ok());
    }
    QCOMPARE(found->cases.front().values.size(), captured.values);
    QCOMPARE(found->cases.front().unmatched.size(), captured.left);
}

void TestCapturedReference::namesTheFirstWrongNode() {
    QFETCH(int, row);
    const Captured& captured = kCaptured[row];
    const auto found = compare(captured, ".broken.pt");
    QVERIFY2(found, found ? "" : found.error().text().c_str());
    for (const analysis::ComparedCase& one : found->cases) {
        QVERIFY(one.firstDiverging());
        QCOMPARE(one.firstDiverging()->name, std::string(captured.diverges));
    }
}

QTEST_GUILESS_MAIN(TestCapturedReference)

}  // namespace tst_captured_reference

#include "tst_captured_reference.moc"
