// Save Values after an input was changed: the file holds one run, the one that its values are of.

#include <QFileDialog>

#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"

namespace tst_save_values {

using namespace sonde;
namespace onnx = test::onnxfile;

class TestSaveValues : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void cleanup() { closeWindow(); }

    /// y = x + x of [1,2,4]; then x is given as [5,5,5] and the model not run.
    void staleValuesAreSavedWithTheirInputs() {
        openWindow();
        const QString model = m_settings.filePath(QStringLiteral("twice.onnx"));
        const onnx::Graph graph{
            {{"Add", {"x", "x"}, {"y"}}}, {onnx::valueInfo("x", 1, {3})}, {onnx::valueInfo("y", 1, {3})}, {}};
        QVERIFY(onnx::write(model, onnx::model(graph)));
        open(model);
        context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[1,2,4]"), {}});
        run();
        context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[5,5,5]"), {}});
        settle();
        QTRY_VERIFY(!context().runs().staleReason().isEmpty());
        key(Qt::Key_S, Qt::ControlModifier);
        auto* dialog = m_window->findChild<QFileDialog*>();
        QVERIFY(dialog);
        const QString saved = m_settings.filePath(QStringLiteral("saved.npz"));
        Q_EMIT dialog->fileSelected(saved);
        dialog->close();
        QTRY_COMPARE(context().messages().all().back().text, QStringLiteral("Values saved"));
        QVERIFY(context().messages().all().back().hint.contains(context().runs().staleReason()));
        const auto file = io::NpzFile::open(saved.toStdString());
        QVERIFY(file);
        for (const auto& [name, factor] : {std::pair{"in.x", 1}, {"out.y", 2}}) {
            const auto value = file->read(name);
            QVERIFY(value && value->numel() == 3);
            for (const int i : {0, 1, 2}) QCOMPARE(value->toDouble(i), factor * double(1 << i));
        }
    }
};

QTEST_MAIN(TestSaveValues)

}  // namespace tst_save_values

#include "tst_save_values.moc"
