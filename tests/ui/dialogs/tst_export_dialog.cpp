// File ▸ Export Model…: options, preview and file, by keys and clicks in the real window.

#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSet>
#include <QSplitter>
#include <QTableWidget>

#include <array>
#include <cstdlib>

#include "core/document/document.h"
#include "core/io/dump/dump_file.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/context/stored.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/widgets/empty_state.h"
#include "ui/window/window_dialogs.h"

namespace tst_export_dialog {

using namespace sonde;
namespace onnx = test::onnxfile;

class TestExportDialog : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void cleanup() {
        closeWindow();
        context::store(QStringLiteral("export/choice"), {});
    }

    void everyOptionIsShownWithWhatItDoes();
    void aFormatThatDoesNotFitSaysWhy();
    void theModelsRowIsAlwaysSeen();
    void aPreviewFollowsTheOptions();
    void wrongValuesCannotBeWritten();
    void aFileIsWrittenByKeysAlone();
    void anExistingFileIsReplacedWhenAskedTwice();
    void theOpenModelIsNotReplaced();
    void currentInputsBecomeATestCase();
    void theLastChoiceIsKept();
    void theFileOpensBesideAndIsCompared();
    void allFitsIntoASmallWindow();
    void tabGoesDownTheDialog();
    void notesAreSaidOnceInWordsOfTheDialog();
    void aStepThatFailsSaysWhy();

  private:
    /// y = relu(x + (1, 2, 3)), and x is (-5, 1, 1), so y is (0, 3, 4).
    void openSmall(QSize size = {1400, 900}) {
        openWindow(size);
        const QString model = m_settings.filePath(QStringLiteral("small.onnx"));
        const std::array<float, 3> c{1, 2, 3};
        const std::string bytes(reinterpret_cast<const char*>(c.data()), sizeof c);
        const onnx::Graph graph{{{"Add", {"x", "c"}, {"s"}}, {"Relu", {"s"}, {"y"}}},
                                {onnx::valueInfo("x", 1, {3})},
                                {onnx::valueInfo("y", 1, {3})},
                                {onnx::rawTensor("c", 1, {3}, bytes)}};
        QVERIFY(onnx::write(model, onnx::model(graph)));
        open(model);
        context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[-5,1,1]"), {}});
        settle();
    }
    void openDialog() {
        activate();
        canvas()->setFocus();
        QTest::keyClick(canvas(), Qt::Key_J, Qt::ControlModifier);
        m_dialog = m_window->dialogs().exportDialog();
        QVERIFY(m_dialog);
        QVERIFY(QTest::qWaitForWindowExposed(m_dialog));
        measured();
    }
    void measured() { QTRY_VERIFY_WITH_TIMEOUT(!m_dialog->isBusy(), 60000); }
    template <typename Widget>
    Widget* part(const char* name) {
        return m_dialog->findChild<Widget*>(QLatin1String(name));
    }
    QString cell(int row, int column) { return part<QTableWidget>("preview")->item(row, column)->text(); }
    void press(const char* button) {
        QTest::mouseClick(part<QPushButton>(button), Qt::LeftButton);
        QCoreApplication::processEvents();
        measured();
    }
    void choose(const char* box, const QString& value) {
        auto* combo = part<QComboBox>(box);
        const int index = combo->findData(value);
        QVERIFY2(index >= 0, qPrintable(value));
        combo->setCurrentIndex(index);
        Q_EMIT combo->activated(index);
        measured();
    }
    QString path(const char* name) { return m_settings.filePath(QLatin1String(name)); }

    QPointer<dialogs::ExportDialog> m_dialog;
};

void TestExportDialog::everyOptionIsShownWithWhatItDoes() {
    openSmall();
    openDialog();
    for (const exporting::ExportFormatInfo& format : exporting::exportFormats()) {
        if (format.format == exporting::ExportFormat::TracedModule) continue;  // which the model cannot be written as
        choose("format", QString::fromUtf8(format.id.data(), static_cast<int>(format.id.size())));
        for (const exporting::ExportOption& option : exporting::exportOptions()) {
            const std::string name(option.name);
            auto* control = part<QWidget>(name.c_str());
            QCOMPARE(control != nullptr, option.isFor(format.format));
            if (!control) continue;
            QVERIFY2(control->isVisibleTo(m_dialog), name.c_str());
            QVERIFY(!control->toolTip().isEmpty());
            auto* description = part<QLabel>((name + ".description").c_str());
            QVERIFY(description && !description->text().isEmpty());
        }
    }
    choose("format", QStringLiteral("onnx"));
    QVERIFY(part<QPushButton>("write")->isEnabled());
}

void TestExportDialog::aFormatThatDoesNotFitSaysWhy() {
    openSmall();
    openDialog();
    choose("format", QStringLiteral("traced-module"));
    const auto* reason = part<widgets::EmptyState>("impossible");
    QVERIFY(reason->isVisible() && !part<QTableWidget>("preview")->isVisible());
    QCOMPARE(reason->accessibleName(), QStringLiteral("Only traced modules can be saved as one"));
    QCOMPARE(
        reason->accessibleDescription(),
        QStringLiteral("This model has no modules that can be traced; TorchScript archives, built-in models and C++ "
                       "models have"));
    QVERIFY(part<QLineEdit>("path")->text().endsWith(QStringLiteral(".sondetm")));
    for (const char* name : {"write", "preset", "path", "command"}) QVERIFY2(!part<QWidget>(name)->isEnabled(), name);
    QCOMPARE(part<QLineEdit>("command")->text(), QString());
    choose("format", QStringLiteral("onnx"));
    QVERIFY(!reason->isVisible() && part<QTableWidget>("preview")->isVisible());
    for (const char* name : {"write", "preset", "path", "command"}) QVERIFY2(part<QWidget>(name)->isEnabled(), name);
    m_dialog->close();
    open(QStringLiteral("zoo:seed"));
    openDialog();
    choose("format", QStringLiteral("traced-module"));
    QCOMPARE(part<widgets::EmptyState>("impossible")->accessibleDescription(),
             QStringLiteral("Choose the tracer \"Traced module\" in the Tracing panel and trace again"));
}

/// Six options in a small window: the rows are all seen as long as there is room, and the model's also where there is
/// none.
void TestExportDialog::theModelsRowIsAlwaysSeen() {
    openSmall({800, 600});
    openDialog();
    exporting::ExportChoice choice;
    for (const char* option : {"enable_ioc16", "enable_fuse_preprocess"}) QVERIFY(choice.set(option, "true"));
    QVERIFY(choice.set("layout", "nchw88"));
    m_dialog->setChoice(choice);
    measured();
    auto* table = part<QTableWidget>("preview");
    auto* modelRow = part<QTableView>("modelRow");
    QVERIFY(table->rowCount() >= 6);
    const auto placeOf = [table](int row) { return table->visualItemRect(table->item(row, 0)); };
    QTRY_VERIFY(table->viewport()->rect().contains(placeOf(table->rowCount() - 1)));
    QVERIFY(table->viewport()->rect().contains(placeOf(0)) && !modelRow->isVisible());
    QSplitterHandle* handle = m_dialog->findChild<QSplitter*>()->handle(1);
    const QPoint start(5, 1), end(5, 400);
    QTest::mousePress(handle, Qt::LeftButton, {}, start);
    QMouseEvent drag(QEvent::MouseMove, end, handle->mapToGlobal(end), Qt::NoButton, Qt::LeftButton, {});
    QApplication::sendEvent(handle, &drag);
    QTest::mouseRelease(handle, Qt::LeftButton, {}, handle->mapFromGlobal(drag.globalPosition().toPoint()));
    QTRY_VERIFY(table->verticalScrollBar()->maximum() > 0);
    table->setFocus();
    QTest::keyClick(table, Qt::Key_End, Qt::ControlModifier);
    QVERIFY(!table->viewport()->rect().contains(placeOf(0)));
    QVERIFY(modelRow->isVisible());
    QCOMPARE(modelRow->rowAt(0), 0);
    QCOMPARE(modelRow->mapTo(table, QPoint()), table->viewport()->geometry().topLeft());
    QCOMPARE(modelRow->columnWidth(0), table->columnWidth(0));
    // No row is behind it when it is chosen.
    for (int row = table->rowCount() - 2; row >= 1; --row) {
        QTest::keyClick(table, Qt::Key_Up);
        QCOMPARE(table->currentRow(), row);
        QVERIFY(placeOf(row).top() >= (modelRow->isVisible() ? modelRow->height() : 0));
    }
    QTest::keyClick(table, Qt::Key_Up);
    QVERIFY(!modelRow->isVisible() && placeOf(0).top() == 0);
}

void TestExportDialog::aPreviewFollowsTheOptions() {
    openSmall();
    openDialog();
    choose("preset", QStringLiteral("as-it-is"));
    QCOMPARE(part<QTableWidget>("preview")->rowCount(), 2);
    QCOMPARE(cell(0, 1), QStringLiteral("2"));
    QCOMPARE(cell(0, 2), QStringLiteral("12 bytes"));
    QCOMPARE(cell(1, 1), QStringLiteral("2"));
    QCOMPARE(cell(1, 4), QStringLiteral("0"));
    QVERIFY(cell(1, 5).endsWith(QStringLiteral(" ms")));
    choose("preset", QStringLiteral("half"));
    const int last = part<QTableWidget>("preview")->rowCount() - 1;
    QCOMPARE(cell(last, 0), QStringLiteral("Values in float16"));
    QCOMPARE(cell(last, 2), QStringLiteral("6 bytes"));
    QCOMPARE(cell(last, 4), QStringLiteral("0"));
    QVERIFY(part<QLabel>("details")->text().contains(QStringLiteral("float16[3] instead of float32[3]")));
    QVERIFY(part<QLineEdit>("command")->text().contains(QStringLiteral("--option enable_io16xc32")));
    // One click more, and the choice is nobody's preset.
    QTest::mouseClick(part<QCheckBox>("keep-opr-name"), Qt::LeftButton, {}, QPoint(8, 8));
    measured();
    QCOMPARE(part<QComboBox>("preset")->currentData().toString(), QStringLiteral("half"));
    part<QCheckBox>("enable_ioc16")->click();
    measured();
    QCOMPARE(part<QComboBox>("preset")->currentText(), QStringLiteral("Own choice"));
    // Without the optimisation its options have no effect.
    part<QCheckBox>("optimize-for-inference")->click();
    measured();
    QVERIFY(!part<QCheckBox>("enable_ioc16")->isEnabled());
    QCOMPARE(part<QTableWidget>("preview")->rowCount(), 2);
}

void TestExportDialog::wrongValuesCannotBeWritten() {
    openSmall();
    openDialog();
    auto* edit = part<QLineEdit>("maxerr");
    // Of no test case there is nothing to allow.
    QVERIFY(!edit->isEnabled());
    part<QWidget>("input-data")->findChild<QPlainTextEdit*>()->setPlainText(QStringLiteral("#rand(0,1)"));
    QVERIFY(edit->isEnabled());
    edit->setFocus();
    edit->selectAll();
    QTest::keyClicks(edit, QStringLiteral("much"));
    QVERIFY(!part<QPushButton>("write")->isEnabled());
    QVERIFY(part<QLabel>("maxerr.description")->text().contains(QStringLiteral("not a number")));
    edit->selectAll();
    QTest::keyClicks(edit, QStringLiteral("0.5"));
    QVERIFY(part<QPushButton>("write")->isEnabled());
    QCOMPARE(m_dialog->exports().choice().settings.dump.maxError, 0.5);
    part<QLineEdit>("path")->clear();
    QVERIFY(!part<QPushButton>("write")->isEnabled());
}

void TestExportDialog::aFileIsWrittenByKeysAlone() {
    openSmall();
    openDialog();
    // The focus is on the format; Alt+E is the file.
    QVERIFY(part<QComboBox>("format")->hasFocus());
    QTest::keyClick(part<QComboBox>("format"), Qt::Key_Down);
    QCOMPARE(m_dialog->exports().choice().format, exporting::ExportFormat::Onnx);
    auto* edit = part<QLineEdit>("path");
    QCOMPARE(edit->text(), path("small_export.onnx"));  // not the model itself
    edit->setFocus();
    edit->selectAll();
    QTest::keyClicks(edit, path("written.onnx"));
    QTest::keyClick(edit, Qt::Key_Return);
    measured();
    QVERIFY(QFile::exists(path("written.onnx")));
    QVERIFY(part<QLabel>("state")->text().contains(QStringLiteral("written.onnx is written")));
    QVERIFY(document::open(path("written.onnx").toStdString()).has_value());
    QVERIFY(part<QPushButton>("beside")->isEnabled());
    QTRY_VERIFY(part<QPushButton>("beside")->hasFocus());
    QTest::keyClick(m_dialog, Qt::Key_Escape);
    QVERIFY(!m_window->dialogs().exportDialog());
}

void TestExportDialog::anExistingFileIsReplacedWhenAskedTwice() {
    openSmall();
    QFile file(path("there.dump"));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("mine") == 4);
    file.close();
    openDialog();
    part<QLineEdit>("path")->setText(path("there.dump"));
    press("write");
    QCOMPARE(QFile(path("there.dump")).size(), 4);
    QCOMPARE(part<QPushButton>("write")->text(), QStringLiteral("Replace"));
    press("write");
    QVERIFY(QFile(path("there.dump")).size() > 4);
    QVERIFY(part<QLabel>("state")->text().contains(QStringLiteral("is written")));
    QVERIFY(part<QPushButton>("write")->text() != QStringLiteral("Replace"));
}

void TestExportDialog::theOpenModelIsNotReplaced() {
    openSmall();
    openDialog();
    const qint64 size = QFile(path("small.onnx")).size();
    part<QLineEdit>("path")->setText(path("small.onnx"));
    press("write");
    press("write");
    QCOMPARE(QFile(path("small.onnx")).size(), size);
    QVERIFY2(part<QLabel>("state")->text().contains(QStringLiteral("small.onnx")),
             qPrintable(part<QLabel>("state")->text()));
}

void TestExportDialog::currentInputsBecomeATestCase() {
    openSmall();
    openDialog();
    press("addInputs");
    QCOMPARE(m_dialog->exports().choice().settings.inputData, std::vector<std::string>{"x:[-5,1,1]"});
    part<QLineEdit>("path")->setText(path("case.dump"));
    press("write");
    const auto dump = io::dump::readDump(path("case.dump").toStdString());
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    QCOMPARE(dump->cases.size(), std::size_t(1));
    const tensor::Tensor expected = dump->cases.front().front().second;
    QVERIFY(tensor::identical(expected, tensor::Tensor::of<float>({3}, {0, 3, 4})) ||
            tensor::identical(dump->cases.front().back().second, tensor::Tensor::of<float>({3}, {0, 3, 4})));
}

void TestExportDialog::theLastChoiceIsKept() {
    openSmall();
    openDialog();
    choose("preset", QStringLiteral("half"));
    part<QLineEdit>("arg-names")->setText(QStringLiteral("data"));
    measured();
    m_dialog->close();
    openDialog();
    QCOMPARE(part<QComboBox>("preset")->currentData().toString(), QStringLiteral("half"));
    // A name belongs to one model.
    QCOMPARE(part<QLineEdit>("arg-names")->text(), QString());
}

void TestExportDialog::theFileOpensBesideAndIsCompared() {
    openSmall();
    openDialog();
    part<QLineEdit>("path")->setText(path("beside.dump"));
    press("write");
    QTest::mouseClick(part<QPushButton>("beside"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(context().comparison().isKnown(), 60000);
    QCOMPARE(context().comparison().differing(), std::size_t(0));
    QVERIFY(context().comparison().compared() >= 1);
    window::MainWindow* other = nullptr;
    for (QWidget* widget : QApplication::topLevelWidgets())
        if (auto* each = qobject_cast<window::MainWindow*>(widget); each && each != m_window.get()) other = each;
    QVERIFY(other);
    QTRY_VERIFY_WITH_TIMEOUT(other->context().model().isOpen() && other->isIdle(), 60000);
    QCOMPARE(other->context().model().document()->location, path("beside.dump").toStdString());
    other->close();
}

void TestExportDialog::allFitsIntoASmallWindow() {
    openSmall({800, 600});
    openDialog();
    QVERIFY(m_dialog->width() <= 800 && m_dialog->height() <= 600);
    for (const char* name : {"format", "preset", "preview", "path", "command", "write", "beside", "browse"}) {
        const auto* widget = part<QWidget>(name);
        QVERIFY2(widget->isVisible(), name);
        const QRect place(widget->mapTo(m_dialog, QPoint()), widget->size());
        QVERIFY2(m_dialog->rect().contains(place), name);
    }
}

/// From the format to the buttons, and around: never up, but to the next column or to the top again.
void TestExportDialog::tabGoesDownTheDialog() {
    openSmall();
    openDialog();
    for (const char* format : {"dump", "onnx", "dump"}) {
        choose("format", QLatin1String(format));
        QWidget* const first = part<QComboBox>("format");
        first->setFocus();
        QWidget* const viewport = part<QScrollArea>("options")->viewport();
        const auto placeOf = [&](QWidget* widget) { return widget->mapTo(m_dialog, widget->rect().center()); };
        // Options by their place in the whole list, which is above all that is below it.
        const auto isBefore = [&](QWidget* above, QWidget* below) {
            const QWidget* content = viewport->findChild<QWidget*>(QString(), Qt::FindDirectChildrenOnly);
            const auto partOf = [&](QWidget* widget) {
                return content->isAncestorOf(widget) ? 1 : placeOf(widget).y() < placeOf(viewport).y() ? 0 : 2;
            };
            if (partOf(above) != partOf(below)) return partOf(above) < partOf(below);
            const QPoint to = placeOf(below), way = to - placeOf(above);
            return std::abs(way.y()) < 8 ? way.x() > 0 : way.y() > 0;
        };
        QSet<QWidget*> seen{first};
        for (QWidget* last = first;;) {
            QTest::keyClick(last, Qt::Key_Tab);
            QWidget* const next = QApplication::focusWidget();
            QVERIFY(next && next != last);
            if (next == first) break;
            QVERIFY2(!seen.contains(next), qPrintable(next->objectName()));
            QVERIFY2(isBefore(last, next), qPrintable(last->objectName() + " before " + next->objectName()));
            seen << next;
            last = next;
        }
        for (const char* name : {"preset", "preview", "path", "browse", "command", "write"})
            QVERIFY2(seen.contains(part<QWidget>(name)), name);
        QVERIFY(seen.size() > 10);
    }
}

/// A traced archive takes its sizes from the example where values become float16.
void TestExportDialog::notesAreSaidOnceInWordsOfTheDialog() {
    openWindow();
    open(file("mlp_functional.trace.pt"));
    openDialog();
    choose("preset", QStringLiteral("half"));
    part<QLineEdit>("path")->setText(path("half.dump"));
    const QString start = QStringLiteral("\u201cValues in float16\u201d fixes the sizes of inputs");
    QVERIFY2(part<QLabel>("details")->text().contains(start), qPrintable(part<QLabel>("details")->text()));
    const auto said = [this] { return part<QLabel>("details")->text() + u'\n' + part<QLabel>("state")->text(); };
    press("write");
    QCOMPARE(said().count(start), 1);
    QVERIFY(said().contains(QStringLiteral("half.dump is written")));
    // Before the preview is there as well.
    choose("preset", QStringLiteral("as-it-is"));
    part<QComboBox>("preset")->setCurrentIndex(part<QComboBox>("preset")->findData(QStringLiteral("half")));
    Q_EMIT part<QComboBox>("preset")->activated(part<QComboBox>("preset")->currentIndex());
    part<QLineEdit>("path")->setText(path("half2.dump"));
    press("write");
    QVERIFY(said().contains(QStringLiteral("half2.dump is written")));
    QCOMPARE(said().count(start), 1);
    // Another row's notes are not those of the file.
    part<QTableWidget>("preview")->setCurrentCell(0, 0);
    QCOMPARE(said().count(start), 1);
}

void TestExportDialog::aStepThatFailsSaysWhy() {
    openSmall();
    openDialog();
    choose("format", QStringLiteral("onnx"));
    part<QLineEdit>("pass")->setText(QStringLiteral("nosuch"));
    measured();
    auto* table = part<QTableWidget>("preview");
    const int last = table->rowCount() - 1;
    QCOMPARE(cell(0, 1), QStringLiteral("2"));
    QVERIFY2(cell(last, 1).startsWith(QStringLiteral("failed: ")) && cell(last, 1).contains(QStringLiteral("nosuch")),
             qPrintable(cell(last, 1)));
    QCOMPARE(table->columnSpan(last, 1), 5);
    part<QLineEdit>("pass")->clear();
    measured();
    QCOMPARE(table->columnSpan(table->rowCount() - 1, 1), 1);
    QCOMPARE(cell(table->rowCount() - 1, 1), QStringLiteral("2"));
}

QTEST_MAIN(TestExportDialog)

}  // namespace tst_export_dialog

#include "tst_export_dialog.moc"
