// Whatever the window writes, no file that it reads is replaced: the model, its inputs and the reference stay what they
// are, and the log says which one was meant.

#include <QFile>
#include <QFileDialog>

#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/context/comparison.h"
#include "ui/context/job.h"
#include "ui/dialogs/print_dialog.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"

namespace tst_read_files_stay {

using namespace sonde;
using tensor::Tensor;
namespace onnx = test::onnxfile;

class TestReadFilesStay : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init();
    void cleanup() { closeWindow(); }
    void picturesDoNotReplaceThem_data() { formats(); }
    void picturesDoNotReplaceThem();
    void valuesDoNotReplaceThem();
    void aTensorDoesNotReplaceItsInput();
    void aPrintDoesNotReplaceThem();
    void otherFilesAreReplaced();

  private:
    static void formats() {
        QTest::addColumn<QString>("suffix");
        for (const char* suffix : {"svg", "png", "pdf"}) QTest::newRow(suffix) << QString::fromLatin1(suffix);
    }
    QString path(const QString& name) const { return m_folder->filePath(name); }
    QByteArray bytes(const QString& name) const {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    /// What the log says last that is an error.
    QString error() {
        for (auto message = context().messages().all().rbegin(); message != context().messages().all().rend();
             ++message)
            if (message->severity == base::Severity::Error) return message->text + u' ' + message->hint;
        return {};
    }
    void saveValues(const QString& file) {
        key(Qt::Key_S, Qt::ControlModifier);
        auto* dialog = m_window->findChild<QFileDialog*>();
        QVERIFY(dialog);
        Q_EMIT dialog->fileSelected(file);
        dialog->close();
        delete dialog;
        settle();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

/// y = x + x; x is read from x.npy, and links to the model have the names of pictures.
void TestReadFilesStay::init() {
    QSettings().clear();
    openWindow();
    m_folder = std::make_unique<QTemporaryDir>();
    const onnx::Graph graph{
        {{"Add", {"x", "x"}, {"y"}}}, {onnx::valueInfo("x", 1, {2})}, {onnx::valueInfo("y", 1, {2})}, {}};
    QVERIFY(onnx::write(path(QStringLiteral("m.onnx")), onnx::model(graph)));
    const Tensor pair = Tensor::of<float>({2}, std::vector<float>{1, 2});
    QVERIFY(io::writeNpyFile(path(QStringLiteral("x.npy")).toStdString(), pair));
    const std::vector<io::NamedTensor> arrays{{"in.x", pair}, {"node.y", pair}};
    QVERIFY(io::writeNpz(path(QStringLiteral("ref.npz")).toStdString(), arrays));
    for (const char* suffix : {"svg", "png", "pdf"})
        QVERIFY(QFile::link(path(QStringLiteral("m.onnx")), path(QStringLiteral("link.") + QLatin1String(suffix))));
    open(path(QStringLiteral("m.onnx")));
    context().inputs().setSpec(QStringLiteral("x"), {path(QStringLiteral("x.npy")), {}});
    run();
}

void TestReadFilesStay::picturesDoNotReplaceThem() {
    QFETCH(QString, suffix);
    const QByteArray before = bytes(QStringLiteral("m.onnx"));
    m_window->output().exportTo(path(QStringLiteral("link.") + suffix));
    settle();
    QCOMPARE(bytes(QStringLiteral("m.onnx")), before);
    QVERIFY2(error().contains(QStringLiteral("is the model file")), qPrintable(error()));
    m_window->output().exportTo(path(QStringLiteral("new.") + suffix));
    settle();
    QVERIFY(bytes(QStringLiteral("new.") + suffix).size() > 500);
}

void TestReadFilesStay::valuesDoNotReplaceThem() {
    context().comparison().withFile(path(QStringLiteral("ref.npz")));
    QTRY_VERIFY_WITH_TIMEOUT(!context().comparison().isActive() && context().comparison().isKnown(), 30000);
    settle();
    const QByteArray before = bytes(QStringLiteral("ref.npz"));
    saveValues(path(QStringLiteral("ref.npz")));
    QCOMPARE(bytes(QStringLiteral("ref.npz")), before);
    QVERIFY2(
        error().contains(QStringLiteral("ref.npz' is ")) && error().contains(QStringLiteral("choose another file")),
        qPrintable(error()));
    const QByteArray model = bytes(QStringLiteral("m.onnx"));
    saveValues(path(QStringLiteral("m.onnx")));
    QCOMPARE(bytes(QStringLiteral("m.onnx")), model);
    QVERIFY2(error().contains(QStringLiteral("is the model file")), qPrintable(error()));
}

void TestReadFilesStay::aTensorDoesNotReplaceItsInput() {
    auto* panel = qobject_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    QVERIFY(panel);
    m_window->docks().show(QStringLiteral("tensor_viewer"));
    context().navigation().select(context().model().graph().findNode("y"));
    settle();
    const QByteArray before = bytes(QStringLiteral("x.npy"));
    QTRY_VERIFY(panel->viewer()->saveTo(path(QStringLiteral("x.npy"))));
    settle();
    QCOMPARE(bytes(QStringLiteral("x.npy")), before);
    QVERIFY2(error().contains(QStringLiteral("is an input file")), qPrintable(error()));
    QVERIFY(panel->viewer()->saveTo(path(QStringLiteral("y.npy"))));
    QTRY_VERIFY_WITH_TIMEOUT(!bytes(QStringLiteral("y.npy")).isEmpty(), 30000);
}

void TestReadFilesStay::aPrintDoesNotReplaceThem() {
    const QByteArray before = bytes(QStringLiteral("m.onnx"));
    m_window->output().print();
    auto* print = m_window->findChild<dialogs::PrintDialog*>();
    QVERIFY(print);
    QTRY_COMPARE_WITH_TIMEOUT(print->pages(), 1, 30000);
    print->printToPdf(path(QStringLiteral("link.pdf")));
    context::Job::waitForAll();
    QCOMPARE(bytes(QStringLiteral("m.onnx")), before);
    print->printToPdf(path(QStringLiteral("print.pdf")));
    QTRY_VERIFY_WITH_TIMEOUT(bytes(QStringLiteral("print.pdf")).startsWith("%PDF"), 30000);
    QCOMPARE(bytes(QStringLiteral("m.onnx")), before);
    print->close();
}

/// What was written before is written again.
void TestReadFilesStay::otherFilesAreReplaced() {
    for (int i = 0; i < 2; ++i) {
        m_window->output().exportTo(path(QStringLiteral("g.svg")));
        saveValues(path(QStringLiteral("saved.npz")));
        QTRY_VERIFY(!bytes(QStringLiteral("saved.npz")).isEmpty());
        QVERIFY2(error().isEmpty(), qPrintable(error()));
    }
}

QTEST_MAIN(TestReadFilesStay)

}  // namespace tst_read_files_stay

#include "tst_read_files_stay.moc"
