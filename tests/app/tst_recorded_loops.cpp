// Loops of archives whose iterations only a run knows, `for i in range(start, end, step)` as TorchScript writes it: run
// with every value watched, saved as ONNX and checked, dumped and checked. Expected values are worked by hand.

#include <QTemporaryDir>
#include <QtTest>

#include "core/io/npz/npz.h"
#include "tests/support/reference_sets.h"
#include "tests/support/run_sonde.h"
#include "tests/support/script_archive.h"

namespace tst_recorded_loops {

using namespace sonde;
using tensor::Tensor;
using test::Outcome;
using test::runSonde;

namespace {

std::string source(const std::string& start, const std::string& end, const std::string& step) {
    return "class M(Module):\n"
           "  __parameters__ = []\n"
           "  __buffers__ = []\n"
           "  training : bool\n"
           "  def forward(self: __torch__.M,\n"
           "    x: Tensor,\n"
           "    n: Tensor) -> Tensor:\n"
           "    k = int(n)\n"
           "    y = x\n"
           "    for i in range(torch.__range_length(" +
           start + ", " + end + ", " + step +
           ")):\n"
           "      j = torch.__derive_index(i, " +
           start + ", " + step +
           ")\n"
           "      y = torch.add(y, torch.mul(x, j))\n"
           "    return y\n";
}

void write(const QString& path, const std::vector<std::pair<std::string, Tensor>>& arrays) {
    std::vector<io::NamedTensor> named;
    for (const auto& [name, tensor] : arrays) named.push_back({name, tensor});
    QVERIFY(io::writeNpz(path.toStdString(), named).has_value());
}

/// Ends with that status, and nothing is said of an operator that is missing.
void verify(const Outcome& outcome, int status = 0) {
    QVERIFY2(outcome.status == status, qPrintable(outcome.out + outcome.err));
    QVERIFY2(!outcome.err.contains("not known") && !outcome.err.contains("no ONNX form"), qPrintable(outcome.err));
}

}  // namespace

class TestRecordedLoops : public QObject {
    Q_OBJECT

  private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    /// x = [1, 2]; y = x * (1 + the sum of the range's elements).
    void rangesOfARun_data() {
        QTest::addColumn<QStringList>("range");
        QTest::addColumn<int>("n");
        QTest::addColumn<int>("factor");
        QTest::addColumn<int>("otherN");
        QTest::addColumn<int>("otherFactor");
        QTest::newRow("up") << QStringList{"1", "k", "2"} << 6 << 10 << 9 << 17;              // 1, 3, 5; and 7
        QTest::newRow("to the end") << QStringList{"0", "k", "3"} << 7 << 10 << 4 << 4;       // 0, 3, 6
        QTest::newRow("down") << QStringList{"k", "0", "-2"} << 5 << 10 << 4 << 7;            // 5, 3, 1
        QTest::newRow("empty later") << QStringList{"2", "k", "1"} << 4 << 6 << 1 << 1;       // 2, 3
        QTest::newRow("step of the data") << QStringList{"0", "6", "k"} << 2 << 7 << 4 << 5;  // 0, 2, 4
    }
    void rangesOfARun() {
        QFETCH(QStringList, range);
        QFETCH(int, n);
        QFETCH(int, factor);
        QFETCH(int, otherN);
        QFETCH(int, otherFactor);
        const QString model = file("m.pt");
        test::writeScript(model.toStdString(),
                          source(range[0].toStdString(), range[1].toStdString(), range[2].toStdString()));
        const QString reference = file("reference.npz");
        const auto x = Tensor::of<float>({2}, {1, 2});
        const auto scaled = [](int by) {
            return Tensor::of<float>({2}, {static_cast<float>(by), static_cast<float>(2 * by)});
        };
        write(reference, {{"in.x", x},
                          {"in.n", Tensor::scalar<std::int64_t>(n)},
                          {"out.out", scaled(factor)},
                          {"case1.in.x", x},
                          {"case1.in.n", Tensor::scalar<std::int64_t>(otherN)},
                          {"case1.out.out", scaled(otherFactor)}});
        verify(runSonde({"check", model, reference}));
        const QString values = file("values.npz");
        verify(runSonde({"run", model, "--input-data", reference, "--watch-all", "--out", values}));
        const auto npz = io::NpzFile::open(values.toStdString());
        QVERIFY(npz && !npz->keys().empty());
        // Every iteration of the model's own values agrees with itself.
        const Outcome own = runSonde({"check", model, values});
        verify(own);
        QVERIFY2(!own.out.contains("no counterpart"), qPrintable(own.out));
        const QString saved = file("m.onnx");
        verify(runSonde({"save", model, "--input-data", reference, "-o", saved}));
        verify(runSonde({"check", saved, reference}));
        const QString dump = file("m.dump");
        verify(runSonde({"dump", model, "--input-data", reference, "-o", dump}));
        verify(runSonde({"dump", "--check", dump, "-o", file("unused")}));
    }

    void aStepOfZeroIsAnError() {
        const QString model = file("m.pt");
        test::writeScript(model.toStdString(), source("0", "6", "k"));
        const QString reference = file("reference.npz");
        write(reference, {{"in.x", Tensor::of<float>({2}, {1, 2})}, {"in.n", Tensor::scalar<std::int64_t>(0)}});
        const Outcome outcome = runSonde({"run", model, "--input-data", reference});
        QCOMPARE(outcome.status, 4);
        QVERIFY2(outcome.err.contains("range() arg 3 must not be zero"), qPrintable(outcome.err));
    }

    void archivesWithLoops_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"control_flow", "gpt_mini", "lstm_classifier", "robust_nested", "nested_containers"})
            QTest::newRow(name) << QString(name);
    }
    void archivesWithLoops() {
        QFETCH(QString, name);
        const QString model = test::referenceModels() + '/' + name + ".script.pt",
                      reference = test::referenceModels() + '/' + name + ".npz";
        verify(runSonde({"check", model, reference}));
        const QString values = file("values.npz");
        verify(runSonde({"run", model, "--input-data", reference, "--watch-all", "--out", values}));
        verify(runSonde({"check", model, values}));
        const QString saved = file("m.onnx"), dump = file("m.dump");
        verify(runSonde({"save", model, "--input-data", reference, "-o", saved}));
        verify(runSonde({"dump", model, "--input-data", reference, "-o", dump}));
    }

  private:
    QString file(const QString& name) const { return m_folder->filePath(name); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(TestRecordedLoops)

}  // namespace tst_recorded_loops

#include "tst_recorded_loops.moc"
