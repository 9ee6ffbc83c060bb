// An export beside the archive of the same network: exported by PyTorch from one module, so that no value that both
// have may differ.

#include <QDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/session/bisection/bisection.h"
#include "tests/support/inferred.h"
#include "tests/support/reference_sets.h"

namespace tst_own_archive {

using namespace sonde;
namespace bisection = session::bisection;

class TestOwnArchive : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void noValueDiffers_data() {
        QTest::addColumn<QString>("exported");
        QTest::addColumn<QString>("archive");
        const QDir folder(test::referenceModels());
        for (const QString& file : folder.entryList({"*.onnx"}))
            for (const char* kind : {".trace.pt", ".script.pt"}) {
                const QString archive = QFileInfo(file).completeBaseName() + QLatin1String(kind);
                if (folder.exists(archive))
                    QTest::newRow(qPrintable(archive)) << folder.filePath(file) << folder.filePath(archive);
            }
    }

    /// Among them outputs of a dictionary in another order, modules with several results, activations in place.
    void noValueDiffers() {
        QFETCH(QString, exported);
        QFETCH(QString, archive);
        const auto own = document::open(exported.toStdString()), other = document::open(archive.toStdString());
        QVERIFY(own && other);
        bisection::Request request;
        request.document = *own;
        request.inputs = test::npzInputs(**own, QString(exported).replace(".onnx", ".npz"), "");
        const auto outcome = bisection::bisect(request, bisection::OtherModel{*other});
        QVERIFY2(outcome, outcome ? "" : outcome.error().text().c_str());
        QVERIFY(outcome->found.matched > 0);
        const std::string text = bisection::outcomeText(*outcome, nullptr);
        QVERIFY2(!outcome->found.differs, text.c_str());
        QVERIFY2(text.find(", 0 differ;") != std::string::npos, text.c_str());
    }

    /// Rectifiers of the archive write to what they read; the export folded the batch norms into convolutions.
    void activationsInPlaceHaveTheirCounterparts() {
        const QDir folder(test::referenceSets() + "/models");
        SONDE_NEEDS_SET("models", folder.path());
        const auto open = [&](const char* name) { return document::open(folder.filePath(name).toStdString()); };
        const auto own = open("resnet18_slim.onnx"), other = open("resnet18_slim.trace.pt");
        QVERIFY(own && other);
        bisection::Request request;
        request.document = *own;
        request.inputs = test::npzInputs(**own, folder.filePath("resnet18_slim.npz"), "");
        const auto outcome = bisection::bisect(request, bisection::OtherModel{*other});
        QVERIFY2(outcome, outcome ? "" : outcome.error().text().c_str());
        QCOMPARE(outcome->found.matched, std::size_t{48});
        QCOMPARE(outcome->found.computed, std::size_t{49});
    }
};

QTEST_GUILESS_MAIN(TestOwnArchive)

}  // namespace tst_own_archive

#include "tst_own_archive.moc"
