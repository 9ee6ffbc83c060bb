// Model files as the window meets them: those that change while they are open, and libraries that would run code.

#include <QDragEnterEvent>
#include <QMimeData>
#include <QPushButton>
#include <QStatusBar>

#include "core/graph/source_files.h"
#include "core/io/npz/npy.h"
#include "tests/support/changing_file.h"
#include "tests/support/window_fixture.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/labels.h"

namespace tst_model_files {

using namespace sonde;
using context::InspectorContext;
using context::RunState;

class TestModelFiles : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_trace = m_folder->filePath("trace");
        qputenv("XDG_CONFIG_HOME", m_folder->filePath("config").toLocal8Bit());
        qputenv("SONDE_TEST_TRACE", m_trace.toLocal8Bit());
        openWindow();
    }
    void cleanup() { closeWindow(); }
    void aChangedModelShowsNoValues_data();
    void aChangedModelShowsNoValues();
    void aDiskThatFailsShowsNoValues();
    void aChangedInputIsReadAnew();
    void aLibraryAsksFirst();
    void aLibraryUnderAnotherNameIsRefused();

  private:
    QPushButton* bannerButton() { return m_window->banner()->findChild<QPushButton*>(); }
    void drop(const QString& path) {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter(QPoint(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(m_window.get(), &enter);
        QDropEvent event(QPointF(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(m_window.get(), &event);
    }
    static std::string contentOf(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_trace;
};

void TestModelFiles::aChangedModelShowsNoValues_data() {
    QTest::addColumn<int>("change");
    QTest::newRow("cut off") << 0;
    QTest::newRow("overwritten") << 1;
    QTest::newRow("replaced") << 2;
    QTest::newRow("deleted") << 3;
}

void TestModelFiles::aChangedModelShowsNoValues() {
    QFETCH(int, change);
    const std::string whole = contentOf(file("unet_small.onnx"));
    const QString path = m_folder->filePath("model.onnx");
    QVERIFY(test::replaceFile(path, whole));
    open(path);
    const graph::NodeId conv = node("op:Conv");
    const graph::NodeId weight =
        context().model().graph().expr(context().model().graph().node(conv).producer).inputs.at(1);
    context().navigation().select(context().navigation().selectionOf(conv));
    context().points().setWatched(weight, true);
    run();
    QVERIFY(context().runs().value(conv) && context().runs().value(weight));

    const QByteArray name = path.toLocal8Bit();
    switch (change) {
        case 0: QCOMPARE(::truncate(name.constData(), 1000), 0); break;
        case 1: QVERIFY(test::overwriteFile(path, std::string(whole.size(), '\1'))); break;
        case 2: QVERIFY(test::replaceFile(path, whole)); break;
        default: QCOMPARE(::unlink(name.constData()), 0); break;
    }
    // Who looks at a value now sees none, before anybody was told of the change.
    context().navigation().select(context().navigation().selectionOf(weight));
    QVERIFY(!context().runs().value(weight) && !context().runs().value(conv));
    QTRY_VERIFY(m_window->banner()->isVisible());
    QCOMPARE(m_window->banner()->text(), QStringLiteral("model file changed on disk; reload (Ctrl+R)"));
    QVERIFY(!context().runs().recording());

    QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
    key(Qt::Key_F5);
    QTRY_VERIFY(!finished.isEmpty());
    QCOMPARE(context().runs().state(), RunState::Failed);
    QVERIFY(m_window->banner()->text().contains("model file changed on disk"));
    QVERIFY(!context().runs().value(conv));

    QVERIFY(test::replaceFile(path, whole));
    QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
    key(Qt::Key_R, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(!opened.isEmpty(), 30000);
    settle();
    run();
    QVERIFY(context().runs().value(context().points().watched().front()));
}

/// The file is as it was, but its bytes can no longer be read: first a weight that is looked at, then all of them in a
/// run. Reloading reads it again.
void TestModelFiles::aDiskThatFailsShowsNoValues() {
    const QString path = m_folder->filePath("model.onnx");
    QVERIFY(test::replaceFile(path, contentOf(file("unet_small.onnx"))));
    open(path);
    run();
    const tensor::Tensor right = context().runs().recording()->outputs.front().tensor().contiguous().value();
    const auto fail = [this] {
        for (const auto& file : graph::filesOf(context().model().document()->graph))
            QVERIFY(test::makeReadsFail(file->bytes().data(), file->sizeBytes()));
    };
    const auto status = [this] { return m_window->statusBar()->findChild<widgets::ElidedLabel*>()->text(); };
    const QString banner = QStringLiteral("model file can no longer be read from disk; reload (Ctrl+R)");
    const auto reload = [this] {
        QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
        key(Qt::Key_R, Qt::ControlModifier);
        QTRY_VERIFY_WITH_TIMEOUT(!opened.isEmpty(), 30000);
        settle();
    };

    // A weight that is mapped.
    graph::NodeId weight;
    const graph::InternalGraph& graph = context().model().graph();
    for (std::size_t i = 0; i < graph.nodeCount() && !weight.valid(); ++i) {
        const auto& constant = graph.node(graph::NodeId(i)).constant;
        if (constant && constant->isTensor() && base::MappedFile::at(constant->tensor().bytes()))
            weight = graph::NodeId(i);
    }
    QVERIFY(weight.valid());
    fail();
    context().navigation().select(context().navigation().selectionOf(weight));
    QTRY_VERIFY(!context().runs().value(weight));
    QTRY_COMPARE(m_window->banner()->text(), banner);
    QVERIFY(m_window->banner()->isVisible());
    context().navigation().clearSelection();
    settle();
    QCOMPARE(status(), QStringLiteral("The model file can no longer be read from disk"));

    reload();
    QVERIFY(!m_window->banner()->isVisible());
    fail();
    QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
    key(Qt::Key_F5);
    QTRY_VERIFY(!finished.isEmpty());
    settle();
    QCOMPARE(context().runs().state(), RunState::Failed);
    QVERIFY(!context().runs().recording());
    QCOMPARE(m_window->banner()->text(), banner);

    reload();
    run();
    QVERIFY(tensor::identical(context().runs().recording()->outputs.front().tensor(), right));
}

void TestModelFiles::aChangedInputIsReadAnew() {
    open(file("mlp_functional.onnx"));
    const context::ModelInput input = context().inputs().all().front();
    const QString path = m_folder->filePath("x.npy");
    const auto write = [&](float value) {
        const tensor::Shape shape =
            context().model().graph().node(input.node).type.staticShape().value_or(tensor::Shape{1, 12});
        const auto x = tensor::Tensor::of<float>(
            shape, std::vector<float>(static_cast<std::size_t>(*shape.checkedNumel()), value));
        return io::writeNpyFile(path.toStdString(), x).has_value();
    };
    QVERIFY(write(1));
    context::InputSpec spec = input.spec;
    spec.source = path;
    context().inputs().setSpec(input.name, spec);
    settle();
    run();
    QVERIFY(write(2));
    run();
    QCOMPARE(context().runs().lastInputs().front().tensor().toDouble(0), 2.0);
}

void TestModelFiles::aLibraryAsksFirst() {
    const QString path = m_folder->filePath("own.so");
    QVERIFY(QFile::copy(QStringLiteral(SONDE_BINARY_DIR "/../tests/plugins/leaves_trace.so"), path));
    QSignalSpy asked(&context().loader(), &context::Loader::consentRequested);
    drop(path);
    QTRY_VERIFY_WITH_TIMEOUT(!asked.isEmpty(), 30000);
    settle();
    QVERIFY(m_window->banner()->isVisible());
    QVERIFY2(m_window->banner()->text().contains("own.so is a shared library"), qPrintable(m_window->banner()->text()));
    QVERIFY(m_window->banner()->hint().contains("SHA-256"));
    QVERIFY(!QFile::exists(m_trace) && !context().model().isOpen());
    // No: closing the banner leaves everything as it is.
    m_window->banner()->dismiss();
    QVERIFY(!QFile::exists(m_trace));

    m_window->open(path);
    QTRY_COMPARE_WITH_TIMEOUT(asked.size(), 2, 30000);
    QTRY_VERIFY(m_window->banner()->isVisible());
    QVERIFY(bannerButton()->isVisible() && (bannerButton()->focusPolicy() & Qt::TabFocus));
    activate();
    // By keys alone.
    for (int i = 0; i < 200 && !bannerButton()->hasFocus(); ++i)
        QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : m_window.get(), Qt::Key_Tab);
    QVERIFY(bannerButton()->hasFocus());
    QTest::keyClick(bannerButton(), Qt::Key_Space);
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(m_trace), 30000);
    settle();
    QCOMPARE(asked.size(), 2);

    // Another content asks again.
    QVERIFY(QFile::remove(m_trace));
    QVERIFY(test::replaceFile(path, contentOf(path) + "x"));
    m_window->open(path);
    QTRY_COMPARE_WITH_TIMEOUT(asked.size(), 3, 30000);
    QVERIFY(!QFile::exists(m_trace));
}

void TestModelFiles::aLibraryUnderAnotherNameIsRefused() {
    const QString path = m_folder->filePath("cute.onnx");
    QVERIFY(QFile::copy(QStringLiteral(SONDE_BINARY_DIR "/../tests/plugins/leaves_trace.so"), path));
    QSignalSpy asked(&context().loader(), &context::Loader::consentRequested),
        failed(&context().loader(), &context::Loader::loadFailed);
    drop(path);
    QTRY_VERIFY_WITH_TIMEOUT(!failed.isEmpty(), 30000);
    settle();
    QVERIFY(asked.isEmpty() && !QFile::exists(m_trace));
    QVERIFY2(m_window->banner()->text().contains("shared library (ELF)"), qPrintable(m_window->banner()->text()));
    QVERIFY(!bannerButton()->isVisible());
}

QTEST_MAIN(TestModelFiles)

}  // namespace tst_model_files

#include "tst_model_files.moc"
