// Settings for those who see, read or move in other ways, found groups, small windows, and what search shows: in the
// real window, by keys.

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QListView>
#include <QPainter>
#include <QRegularExpression>
#include <QSpinBox>
#include <QStyleOptionViewItem>
#include <QTreeView>

#include "tests/support/window_fixture.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/models/node_text.h"
#include "ui/widgets/empty_state.h"
#include "ui/window/search_bar.h"

namespace tst_for_everyone {

using namespace sonde;
using context::InspectorContext;
using theme::Theme;

class TestForEveryone : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        Theme::instance().setReducedMotion(true);
        openWindow();
    }
    void cleanup() { closeWindow(); }
    void highContrastIsChosenAndKept();
    void arrowsOfSelectedRowsAreSeen();
    void textSizeIsThatOfTheGraphToo();
    void reducedMotionMovesAtOnce();
    void groupsAreFoundOrNot();
    void longNamesAreCutInTheMiddle();
    void foundNodesAreMarked();
    void wrongQueriesAreShownInPlace();
    void theGraphKeepsItsRoomInSmallWindows();
    void emptyPanelsAreReadInNarrowWindows();
    void weightsAreCalledWeights();

  private:
    template <typename Control>
    Control* setting(const char* name) {
        if (!m_window->findChild<dialogs::SettingsDialog*>()) key(Qt::Key_Comma, Qt::ControlModifier);
        Control* found = m_window->findChild<Control*>(QLatin1String(name));
        [&] { QVERIFY2(found && found->isVisible() && !found->toolTip().isEmpty(), name); }();
        return found;
    }
    void leaveSettings() {
        // Without a window manager the server gives the keyboard back and forth for a while: pressed again as a person
        // would.
        const auto left = [this] {
            auto* dialog = m_window->findChild<dialogs::SettingsDialog*>();
            if (!dialog) return true;
            dialog->activateWindow();
            if (QApplication::activeWindow() == dialog) QTest::keyClick(dialog, Qt::Key_Escape);
            return false;
        };
        QTRY_VERIFY_WITH_TIMEOUT(left(), 20000);
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        settle();
    }
};

void TestForEveryone::highContrastIsChosenAndKept() {
    open(file("resnet18_slim.onnx"));
    const QImage before = canvas()->grab().toImage();
    auto* look = setting<QComboBox>("look");
    look->setFocus();
    QTest::keyClick(look, Qt::Key_End);
    leaveSettings();
    QCOMPARE(Theme::instance().scheme(), theme::Scheme::HighContrast);
    QVERIFY(canvas()->grab().toImage() != before);
    // The background is black or white, and text on it 7:1 at least (WCAG 2, AAA).
    const QColor background = theme::color(theme::ColorRole::Canvas);
    QVERIFY(background == QColor(Qt::black) || background == QColor(Qt::white));
    QVERIFY(theme::contrast(theme::color(theme::ColorRole::Text), background) >= 7);
    Theme::instance().setMode(Theme::Mode::Light);
    dialogs::applySavedLook();
    QCOMPARE(Theme::instance().scheme(), theme::Scheme::HighContrast);
}

/// 3:1 is what WCAG 2 asks of signs.
void TestForEveryone::arrowsOfSelectedRowsAreSeen() {
    for (const Theme::Mode mode : {Theme::Mode::Light, Theme::Mode::Dark, Theme::Mode::HighContrast}) {
        Theme::instance().setMode(mode);
        open(QStringLiteral("zoo:blocks_net"));
        auto* tree = m_window->docks().panel(QStringLiteral("modules"))->findChild<QTreeView*>();
        const QModelIndex root = tree->model()->index(0, 0);
        tree->setCurrentIndex(root);
        settle();
        const QRect row = tree->visualRect(root);
        QVERIFY(row.left() > 0 && tree->selectionModel()->isSelected(root));
        const QImage image = tree->viewport()->grab(QRect(0, row.top(), row.left(), row.height())).toImage();
        double most = 1;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                most = std::max(most, theme::contrast(image.pixelColor(x, y), image.pixelColor(0, 1)));
        QVERIFY2(most >= 3, qPrintable(QStringLiteral("%1: %2").arg(static_cast<int>(mode)).arg(most)));
    }
}

void TestForEveryone::textSizeIsThatOfTheGraphToo() {
    open(file("resnet18_slim.onnx"));
    const graph::NodeId conv = node("qualname:conv1 op:Conv");
    const layout::ItemId item = canvas()->view().scene()->itemOf(context().model().graph().node(conv).producer);
    const double height = canvas()->view().scene()->item(item).rect.height;
    const int menu =
        m_window->font().pixelSize() > 0 ? m_window->font().pixelSize() : qRound(m_window->font().pointSizeF());
    auto* size = setting<QSpinBox>("textSize");
    size->setValue(150);
    leaveSettings();
    const layout::ItemId larger = canvas()->view().scene()->itemOf(context().model().graph().node(conv).producer);
    // Lines of a card are 1.5 times as high; its padding stays.
    QVERIFY(canvas()->view().scene()->item(larger).rect.height > 1.25 * height);
    QVERIFY(canvas()->view().scene()->item(larger).rect.height <= 1.5 * height);
    const int menuNow =
        m_window->font().pixelSize() > 0 ? m_window->font().pixelSize() : qRound(m_window->font().pointSizeF());
    QVERIFY(menuNow > menu);
    // By keys too, and it is kept.
    key(Qt::Key_Minus, Qt::ControlModifier | Qt::AltModifier);
    QVERIFY2(Theme::instance().textScale() < 1.5, qPrintable(QString::number(Theme::instance().textScale())));
    QCOMPARE(QSettings().value(QStringLiteral("theme/textScale")).toDouble(), Theme::instance().textScale());
}

void TestForEveryone::reducedMotionMovesAtOnce() {
    open(file("resnet18_slim.onnx"));
    key(Qt::Key_Space);
    const canvas::Camera fitted = canvas()->view().camera();
    canvas()->view().zoomBy(3);
    key(Qt::Key_Space);
    QVERIFY(canvas()->view().camera() == fitted);
    auto* motion = setting<QCheckBox>("reducedMotion");
    QVERIFY(motion->isChecked());
    QTest::mouseClick(motion, Qt::LeftButton, {}, QPoint(8, motion->height() / 2));
    leaveSettings();
    QVERIFY(!Theme::instance().reducedMotion());
    canvas()->view().zoomBy(3);
    const canvas::Camera near = canvas()->view().camera();
    canvas()->setFocus();
    QTest::keyClick(canvas(), Qt::Key_Space);
    QVERIFY(!(canvas()->view().camera() == fitted));  // on its way
    QTRY_VERIFY(canvas()->view().camera() == fitted);
    QVERIFY(!(near == fitted));
}

void TestForEveryone::groupsAreFoundOrNot() {
    open(file("mlp_functional.onnx"));  // its exporter wrote no modules
    const auto modules = [this] {
        std::size_t count = 0;
        for (const layout::SceneItem& item : canvas()->view().scene()->items)
            count += item.what.kind == layout::ItemKind::Module;
        return count;
    };
    context().canvases().active().expandToDepth(9);
    settle();
    const std::size_t found = modules();
    QVERIFY(found > 0);
    context().points().setWatched(node("op:Relu"), true);
    QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
    auto* groups = setting<QCheckBox>("findsGroups");
    QVERIFY(groups->isChecked());
    QTest::mouseClick(groups, Qt::LeftButton, {}, QPoint(8, groups->height() / 2));
    QTRY_VERIFY_WITH_TIMEOUT(!opened.isEmpty(), 30000);
    leaveSettings();
    QCOMPARE(modules(), std::size_t{0});
    QCOMPARE(context().points().watched().size(), std::size_t{1});  // kept
    // Another window, another day
    closeWindow();
    openWindow();
    open(file("mlp_functional.onnx"));
    context().canvases().active().expandToDepth(9);
    settle();
    QCOMPARE(modules(), std::size_t{0});
    context::Settings::setFindsGroups(true);
    opened.clear();
    key(Qt::Key_R, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(modules() == found, 30000);
}

void TestForEveryone::longNamesAreCutInTheMiddle() {
    open(file("resnet18_slim.onnx"));
    key(Qt::Key_F, Qt::ControlModifier);
    QVERIFY(m_window->searchBar()->search(QStringLiteral("qualname:layer4.1.conv2")) > 0);
    auto* list = m_window->searchBar()->findChild<QListView*>();
    QVERIFY(list && list->isVisible());
    const QModelIndex row = list->model()->index(0, 0);
    QVERIFY(row.data(Qt::ToolTipRole).toString().contains(QStringLiteral("layer4.1.conv2")));
    QVERIFY(row.data(Qt::AccessibleTextRole).toString().contains(QStringLiteral("layer4.1.conv2")));
    // A row as narrow as half its text: both ends of the name are drawn, which a row cut at its end has not.
    const QString name = row.data(Qt::EditRole).toString();
    const QFontMetrics metrics(list->font());
    const QString cut = metrics.elidedText(name, Qt::ElideMiddle, metrics.horizontalAdvance(name) / 2);
    QVERIFY(cut.startsWith(name.left(1)) && cut.endsWith(name.right(1)));
    const auto painted = [&](int width) {
        QImage image(width, 24, QImage::Format_RGB32);
        image.fill(Qt::white);
        QPainter painter(&image);
        QStyleOptionViewItem option;
        option.initFrom(list);
        option.font = list->font();
        option.rect = image.rect();
        list->itemDelegate()->paint(&painter, option, row);
        painter.end();
        // Where the first and the last pixel of text stand
        int left = width, right = -1;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < width; ++x)
                if (qGray(image.pixel(x, y)) < 128) left = std::min(left, x), right = std::max(right, x);
        return std::pair(left, right);
    };
    const auto [left, right] = painted(160);
    QVERIFY(left < 12 && right > 140 && right < 160);  // from edge to edge, and nothing beyond
}

void TestForEveryone::foundNodesAreMarked() {
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(9);
    settle();
    key(Qt::Key_F, Qt::ControlModifier);
    QCOMPARE(m_window->searchBar()->search(QStringLiteral("op:MaxPool")), 1);
    settle();
    const layout::ItemId pool =
        canvas()->view().scene()->itemOf(context().model().graph().node(node("op:MaxPool")).producer);
    QVERIFY(canvas()->text().spoken(pool).contains(QStringLiteral("search match")));
    const layout::ItemId conv =
        canvas()->view().scene()->itemOf(context().model().graph().node(node("op:Conv")).producer);
    QVERIFY(!canvas()->text().spoken(conv).contains(QStringLiteral("search match")));
    key(Qt::Key_Escape);
    QVERIFY(!canvas()
                 ->text()
                 .spoken(canvas()->view().scene()->itemOf(context().model().graph().node(node("op:MaxPool")).producer))
                 .contains(QStringLiteral("search match")));
}

void TestForEveryone::wrongQueriesAreShownInPlace() {
    open(file("resnet18_slim.onnx"));
    key(Qt::Key_F, Qt::ControlModifier);
    QCOMPARE(m_window->searchBar()->search(QStringLiteral("op:Conv and shpae:[1]")), 0);
    QLabel* problem = nullptr;
    for (QLabel* label : m_window->searchBar()->findChildren<QLabel*>())
        if (label->isVisible() && label->text().contains(QStringLiteral("<u"))) problem = label;
    QVERIFY(problem);
    // The wrong word is set off, and what was meant is below.
    QVERIFY2(problem->text().contains(QRegularExpression(QStringLiteral("<u[^>]*>shpae"))),
             qPrintable(problem->text()));
    QVERIFY(problem->text().section(QStringLiteral("<br>"), 1).contains(QStringLiteral("shape")));
    QVERIFY(!problem->accessibleName().isEmpty());
}

/// Half of a window of 900 pixels, as beside another model: no word is wider than its place.
void TestForEveryone::emptyPanelsAreReadInNarrowWindows() {
    open(QStringLiteral("zoo:blocks_net"));
    for (const char* panel : {"details", "tensor_viewer", "watches"}) m_window->docks().show(QLatin1String(panel));
    for (const int width : {1280, 640, 450}) {
        m_window->resize(width, 720);
        settle();
        QCoreApplication::processEvents();
        int words = 0;
        for (const widgets::EmptyState* empty : m_window->findChildren<widgets::EmptyState*>()) {
            if (empty->visibleRegion().isEmpty()) continue;
            for (const QLabel* label : empty->findChildren<QLabel*>()) {
                if (!label->isVisible() || label->text().isEmpty()) continue;
                QVERIFY2(empty->parentWidget()->rect().contains(label->mapTo(empty->parentWidget(), QPoint(0, 0))),
                         qPrintable(label->text()));
                for (const QString& word : label->text().split(u' ')) {
                    const int needed = label->fontMetrics().horizontalAdvance(word);
                    QVERIFY2(needed <= label->width() && needed <= empty->visibleRegion().boundingRect().width(),
                             qPrintable(QStringLiteral("%1: %2 needs %3 of %4")
                                            .arg(width)
                                            .arg(word)
                                            .arg(needed)
                                            .arg(label->width())));
                    ++words;
                }
            }
        }
        QVERIFY(words >= 4);
    }
}

void TestForEveryone::theGraphKeepsItsRoomInSmallWindows() {
    open(file("resnet18_slim.onnx"));
    m_window->docks().show(QStringLiteral("watches"));
    m_window->resize(900, 600);
    // Panels give way once the window's layout is done.
    QTRY_VERIFY2(canvas()->height() * 100 >= m_window->height() * 40, qPrintable(QString::number(canvas()->height())));
    settle();
    // Who wants the panel higher has it.
    QDockWidget* below = nullptr;
    for (QDockWidget* dock : m_window->findChildren<QDockWidget*>())
        if (dock->objectName() == QStringLiteral("dock.watches")) below = dock;
    QVERIFY(below);
    QTRY_VERIFY2(below->height() <= 160, qPrintable(QString::number(below->height())));
    m_window->resizeDocks({below}, {240}, Qt::Vertical);
    QTRY_VERIFY2(below->height() > 180, qPrintable(QString::number(below->height())));
    const int chosen = below->height(), width = canvas()->width();
    m_window->resize(920, 600);
    QTRY_VERIFY(canvas()->width() > width);
    settle();
    QCOMPARE(below->height(), chosen);
}

void TestForEveryone::weightsAreCalledWeights() {
    open(file("resnet18_slim.onnx"));
    int weights = 0;
    for (std::size_t i = 0; i < context().model().graph().nodeCount(); ++i) {
        const graph::Expr& expr =
            context().model().graph().expr(context().model().graph().node(graph::NodeId(i)).producer);
        if (!expr.isParameter) continue;
        ++weights;
        QCOMPARE(models::operatorText(expr), QStringLiteral("Weight"));
    }
    QVERIFY(weights > 20);
}

QTEST_MAIN(TestForEveryone)

}  // namespace tst_for_everyone

#include "tst_for_everyone.moc"
