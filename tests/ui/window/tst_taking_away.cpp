// Print, pages, copied picture, the graph as text, labels of nodes, and what screen readers hear: in the real window.

#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFile>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QRegularExpression>
#include <QToolButton>

#include "tests/support/window_fixture.h"
#include "ui/canvas/overview_map.h"
#include "ui/canvas/paging.h"
#include "ui/dialogs/labels_dialog.h"
#include "ui/dialogs/print_dialog.h"
#include "ui/dialogs/text_dialog.h"

namespace tst_taking_away {

using namespace sonde;
using context::InspectorContext;

class TestTakingAway : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        prepare();
        QAccessible::setActive(true);
    }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }
    void sheetsCoverThePicture();
    void printHasAPreviewAndMakesPages();
    void theVerbWritesTheSameFiles();
    void aLongGraphIsInColumnsForBoth();
    void theCopiedPictureIsWhatIsShown();
    void labelsFollowRules();
    void labelsAreChosenInTheDialog();
    void theGraphCanBeReadAsText();
    void everyItemInViewSpeaks();
    void marksOnTheMapCanBeClicked();

  private:
    template <typename Dialog>
    Dialog* dialog() {
        Dialog* found = nullptr;
        [&] { QTRY_VERIFY((found = m_window->findChild<Dialog*>()) != nullptr); }();
        return found;
    }
    static int pagesOf(const QByteArray& pdf) { return static_cast<int>(pdf.count("/Type /Page\n")); }
};

void TestTakingAway::sheetsCoverThePicture() {
    using canvas::pagesOf;
    QCOMPARE(pagesOf({0, 0, 100, 100}, {100, 100}).size(), std::size_t{1});
    // 12 units are shared: two pages of 100 reach 188, three 276
    QCOMPARE(pagesOf({0, 0, 188, 50}, {100, 100}).size(), std::size_t{2});
    QCOMPARE(pagesOf({0, 0, 189, 50}, {100, 100}).size(), std::size_t{3});
    const std::vector<canvas::PageLayout> pages = pagesOf({10, 20, 250, 150}, {100, 100});
    QCOMPARE(pages.size(), std::size_t{6});
    QCOMPARE(pages[4].area, QRectF(10 + 88, 20 + 88, 100, 100));
    QCOMPARE(pages[4].row, 1);
    QCOMPARE(pages[4].column, 1);
}

void TestTakingAway::printHasAPreviewAndMakesPages() {
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(9);
    settle();
    key(Qt::Key_P, Qt::ControlModifier);
    auto* print = dialog<dialogs::PrintDialog>();
    QTRY_COMPARE(print->pages(), 1);
    QTemporaryDir folder;
    const auto toPdf = [&](const char* name) {
        QSignalSpy saved(print, &dialogs::PrintDialog::pdfSaved);
        print->printToPdf(folder.filePath(QLatin1String(name)));
        return saved.wait(30000);
    };
    QVERIFY(toPdf("one.pdf"));
    const auto read = [](const QString& path) {
        QFile pdf(path);
        return pdf.open(QIODevice::ReadOnly) ? pdf.readAll() : QByteArray();
    };
    QCOMPARE(pagesOf(read(folder.filePath(QStringLiteral("one.pdf")))), 1);
    print->findChild<QComboBox*>(QStringLiteral("pages"))->setCurrentIndex(1);
    print->findChild<QDoubleSpinBox*>(QStringLiteral("scale"))->setValue(100);
    QTRY_VERIFY(print->pages() > 2);
    QVERIFY(toPdf("many.pdf"));
    QCOMPARE(pagesOf(read(folder.filePath(QStringLiteral("many.pdf")))), print->pages());
    // Only what the canvas shows is less
    const int whole = print->pages();
    print->findChild<QComboBox*>(QStringLiteral("what"))->setCurrentIndex(1);
    QTRY_VERIFY(print->pages() > 0 && print->pages() < whole);
    print->reject();
}

void TestTakingAway::theVerbWritesTheSameFiles() {
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(1);
    settle();
    QTemporaryDir folder;
    const auto verb = [&](const QString& name, const QStringList& more) {
        QProcess sonde;
        sonde.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"),
                    QStringList{QStringLiteral("render"), file("resnet18_slim.onnx"), QStringLiteral("-o"),
                                folder.filePath(name)} +
                        more);
        sonde.waitForFinished(60000);
        QFile written(folder.filePath(name));
        return written.open(QIODevice::ReadOnly) ? written.readAll() : QByteArray();
    };
    const auto window = [&](const QString& name) {
        QFile written(folder.filePath(name));
        return written.open(QIODevice::ReadOnly) ? written.readAll() : QByteArray();
    };
    for (const char* ending : {"svg", "png", "pdf", "dot", "json"}) {
        const QString name = QStringLiteral("window.") + QLatin1String(ending);
        m_window->output().exportTo(folder.filePath(name));
        settle();
        const QByteArray ours = window(name);
        QVERIFY2(!ours.isEmpty(), ending);
        QVERIFY2(ours == verb(QStringLiteral("verb.") + QLatin1String(ending), {}), ending);
    }
    m_window->output().exportPagesTo(folder.filePath(QStringLiteral("pages.pdf")));
    settle();
    const QByteArray pages = window(QStringLiteral("pages.pdf"));
    QVERIFY(pagesOf(pages) >= 1);
    QVERIFY(pages == verb(QStringLiteral("verb-pages.pdf"), {QStringLiteral("--pages"), QStringLiteral("A4")}));
    context().settings().setLabelRules({{QStringLiteral("*"), {QStringLiteral("{op}"), QStringLiteral("{shape}")}}});
    settle();
    m_window->output().exportTo(folder.filePath(QStringLiteral("labels.svg")));
    settle();
    const QByteArray labelled = window(QStringLiteral("labels.svg"));
    QVERIFY(labelled ==
            verb(QStringLiteral("verb-labels.svg"), {QStringLiteral("--label"), QStringLiteral("{op}|{shape}")}));
    QVERIFY(labelled != window(QStringLiteral("window.svg")));
}

/// Whatever columns the canvas chose, and whatever its size: a file has those of a page.
void TestTakingAway::aLongGraphIsInColumnsForBoth() {
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(3);
    settle();
    canvas()->navigation().fit();
    settle();
    QVERIFY(!canvas()->view().scene()->jumps.empty());
    QTemporaryDir folder;
    const QString ours = folder.filePath(QStringLiteral("window.svg")),
                  theirs = folder.filePath(QStringLiteral("verb.svg"));
    m_window->output().exportTo(ours);
    settle();
    QProcess sonde;
    sonde.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"),
                {QStringLiteral("render"), file("resnet18_slim.onnx"), QStringLiteral("--depth"), QStringLiteral("3"),
                 QStringLiteral("-o"), theirs});
    QVERIFY(sonde.waitForFinished(60000));
    QFile one(ours), other(theirs);
    QVERIFY(one.open(QIODevice::ReadOnly) && other.open(QIODevice::ReadOnly));
    const QByteArray svg = one.readAll();
    QVERIFY(svg.contains("\u2192 "));  // names of lines between columns
    QVERIFY(svg == other.readAll());
}

void TestTakingAway::theCopiedPictureIsWhatIsShown() {
    open(file("resnet18_slim.onnx"));
    QApplication::clipboard()->clear();
    key(Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
    const QImage copied = QApplication::clipboard()->image();
    QVERIFY(!copied.isNull());
    QCOMPARE(copied, canvas()->picture());
    // Twice as fine as the screen, and no larger than what the canvas shows.
    QVERIFY(copied.width() <= 2 * canvas()->width() + 2 && copied.height() <= 2 * canvas()->height() + 2);
}

void TestTakingAway::labelsFollowRules() {
    const context::LabelRules rules{{QStringLiteral("Conv Gemm"), {QStringLiteral("a")}},
                                    {QStringLiteral("*"), {QStringLiteral("b")}}};
    QCOMPARE(context::linesFor(rules, QStringLiteral("gemm"))->front(), QStringLiteral("a"));
    QCOMPARE(context::linesFor(rules, QStringLiteral("Relu"))->front(), QStringLiteral("b"));
    QVERIFY(!context::linesFor({}, QStringLiteral("Relu")));
    QCOMPARE(context::unknownFields({{QStringLiteral("*"), {QStringLiteral("{op} {nonsense} {attr:x}")}}}),
             QStringList{QStringLiteral("nonsense")});
    for (const context::LabelPreset& preset : context::labelPresets())
        QCOMPARE(context::unknownFields(preset.rules), QStringList());

    open(file("resnet18_slim.onnx"));
    context().settings().setLabelRules({{QStringLiteral("Conv"),
                                         {QStringLiteral("{op} {attr:strides}"), QStringLiteral("{last}"),
                                          QStringLiteral("{none}{attr:nothing}"), QStringLiteral("{parameters}")}}});
    settle();
    QTemporaryDir folder;
    m_window->output().exportTo(folder.filePath(QStringLiteral("l.svg")));
    settle();
    QFile svg(folder.filePath(QStringLiteral("l.svg")));
    QVERIFY(svg.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(svg.readAll());
    QVERIFY(text.contains(QStringLiteral(">Conv [2, 2]<")));
    QVERIFY(text.contains(QStringLiteral(">conv1<")));
    QVERIFY(text.contains(QStringLiteral(">2,352<")) ||
            text.contains(QStringLiteral(">2,368<")));  // 16 x 3 x 7 x 7, with or without the bias
    QVERIFY(text.contains(QStringLiteral(">Relu<")));   // no rule: the default
    QVERIFY(!text.contains(u'{'));
}

void TestTakingAway::labelsAreChosenInTheDialog() {
    open(file("resnet18_slim.onnx"));
    context().navigation().select(node("op:Conv"));
    key(Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
    auto* labels = dialog<dialogs::LabelsDialog>();
    auto* example = labels->findChild<QLabel*>(QStringLiteral("example"));
    QVERIFY(example->text().contains(QStringLiteral("Conv")));
    QTest::mouseClick(labels->findChild<QToolButton*>(QStringLiteral("addRule")), Qt::LeftButton);
    auto* lines = labels->findChild<QPlainTextEdit*>(QStringLiteral("lines"));
    lines->selectAll();
    QTest::keyClicks(lines, QStringLiteral("<{op}>"));
    QTest::keyClick(lines, Qt::Key_Return);
    QTest::keyClicks(lines, QStringLiteral("{wrong}{shape}"));
    QVERIFY2(example->text().contains(QStringLiteral("&lt;Conv&gt;")), qPrintable(example->text()));
    QVERIFY(labels->findChild<QLabel*>(QStringLiteral("problem"))->text().contains(QStringLiteral("wrong")));
    QTest::mouseClick(labels->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok), Qt::LeftButton);
    settle();
    QCOMPARE(context().settings().labelRules().size(), std::size_t{1});
    QCOMPARE(context().settings().labelRules().front().operators, QStringLiteral("*"));
    // Kept for the next window
    closeWindow();
    openWindow();
    QCOMPARE(context().settings().labelRules().size(), std::size_t{1});
}

void TestTakingAway::theGraphCanBeReadAsText() {
    open(file("resnet18_slim.onnx"));
    key(Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
    auto* text = dialog<dialogs::TextDialog>();
    const QStringList lines = text->text()->toPlainText().split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), static_cast<qsizetype>(canvas()->view().scene()->items.size()));
    QVERIFY(lines.front().startsWith(QStringLiteral("input x")));
    const qsizetype conv = lines.indexOf(QRegularExpression(QStringLiteral("^Conv, module conv1.*")));
    QVERIFY(conv > 0);
    text->text()->moveCursor(QTextCursor::Start);
    for (qsizetype i = 0; i < conv; ++i) QTest::keyClick(text->text(), Qt::Key_Down);
    QTest::keyClick(text->text(), Qt::Key_Return);
    settle();
    QVERIFY(context().navigation().selection().node == node("qualname:conv1 op:Conv"));
    QCOMPARE(canvas()->text().currentLine(), static_cast<int>(conv));
    // What opens on the canvas opens in the text.
    context().canvases().active().expandToDepth(2);
    settle();
    QVERIFY(text->text()->toPlainText().count(u'\n') > lines.size());
    text->close();
}

void TestTakingAway::everyItemInViewSpeaks() {
    open(file("resnet18_slim.onnx"));
    canvas()->setFocus();
    key(Qt::Key_Space);
    QAccessibleInterface* spoken = QAccessible::queryAccessibleInterface(canvas());
    QVERIFY(spoken);
    QCOMPARE(spoken->role(), QAccessible::Tree);
    QCOMPARE(spoken->childCount(), static_cast<int>(canvas()->view().scene()->items.size()));
    bool module = false, conv = false;
    for (int i = 0; i < spoken->childCount(); ++i) {
        QAccessibleInterface* child = spoken->child(i);
        QVERIFY(child && child->isValid());
        QCOMPARE(spoken->indexOfChild(child), i);
        QVERIFY(child->parent() == spoken);
        QVERIFY(!child->text(QAccessible::Name).isEmpty());
        QVERIFY(!child->rect().isEmpty());
        const QPoint middle = child->rect().center();
        if (!child->state().expanded) QVERIFY(spoken->childAt(middle.x(), middle.y()) == child);
        const QString name = child->text(QAccessible::Name);
        if (name.startsWith(QStringLiteral("module layer1"))) {
            module = true;
            QVERIFY(child->state().expandable && child->state().collapsed);
        }
        if (name.startsWith(QStringLiteral("Conv, module conv1"))) {
            conv = true;
            QVERIFY2(name.contains(QStringLiteral("float32")), qPrintable(name));
        }
    }
    QVERIFY(module && conv);
    // The screen reader's focus follows the keyboard.
    QVERIFY(spoken->focusChild() == spoken);
    key(Qt::Key_Down);
    key(Qt::Key_Down);
    QVERIFY(spoken->focusChild() && spoken->focusChild()->state().focused);
    QVERIFY2(spoken->focusChild()->text(QAccessible::Name).startsWith(QStringLiteral("Conv")),
             qPrintable(spoken->focusChild()->text(QAccessible::Name)));
    key(Qt::Key_F9);
    QVERIFY(spoken->focusChild()->text(QAccessible::Name).contains(QStringLiteral("watched")));
    // An action of a screen reader opens a module.
    for (int i = 0; i < spoken->childCount(); ++i) {
        QAccessibleInterface* child = spoken->child(i);
        if (!child->text(QAccessible::Name).startsWith(QStringLiteral("module layer1"))) continue;
        QVERIFY(child->actionInterface()->actionNames().contains(QAccessibleActionInterface::toggleAction()));
        child->actionInterface()->doAction(QAccessibleActionInterface::toggleAction());
        break;
    }
    settle();
    QVERIFY(
        context().canvases().active().isExpanded(context().navigation().selectionOf(QStringLiteral("layer1")).scope));
}

void TestTakingAway::marksOnTheMapCanBeClicked() {
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(9);
    settle();
    canvas()->view().zoomReset();
    const graph::NodeId last = find("op:Conv").back();
    context().navigation().navigateTo(
        find("op:Conv").front());  // at the other end of the graph, wherever the expansion has left the view
    context().points().setWatched(last, true);
    settle();
    auto* map = canvas()->findChild<canvas::OverviewMap*>();
    QVERIFY(map && map->isVisible());
    const layout::ItemId item = canvas()->view().scene()->itemOf(context().model().graph().node(last).producer);
    QVERIFY(!QRectF(canvas()->rect()).intersects(canvas()->view().itemRect(item)));
    QTest::mouseClick(map, Qt::LeftButton, {}, map->markPlace(item).toPoint());
    settle();
    QVERIFY(context().navigation().selection().node == last);
    QVERIFY(QRectF(canvas()->rect()).contains(canvas()->view().itemRect(item).center()));
}

QTEST_MAIN(TestTakingAway)

}  // namespace tst_taking_away

#include "tst_taking_away.moc"
