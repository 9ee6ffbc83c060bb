// Files that nobody should have made, opened in the real window: a tree, a table and a picture, or a sentence that says
// why not. A cycle and other wrong graphs, 10,000 inputs of one node, names of any kind, nesting of 100 levels, tiny
// windows.

#include <QPushButton>
#include <QTableView>
#include <QTreeView>

#include <algorithm>

#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/panels/module_tree/module_tree_panel.h"
#include "ui/panels/node_table/node_table_panel.h"
#include "ui/widgets/banner.h"

namespace tst_hostile {

using namespace sonde;
using namespace sonde::test::onnxfile;

namespace {

const std::vector<std::string> kX{valueInfo("x", 1, {2})}, kY{valueInfo("y", 1, {2})};

Node step(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs, std::string name) {
    return {std::move(op), std::move(inputs), std::move(outputs), std::move(name)};
}

/// A chain in which everything that has a name has this one: values, the node in its module, the graph.
std::string named(const std::string& name) {
    const std::vector<std::string> input{valueInfo(name + "0", 1, {2})};
    Graph graph{{step("Relu", {name + "0"}, {name + "1"}, "/" + name + "/Relu"),
                 step("Neg", {name + "1"}, {name + "2"}, "/" + name + "/Neg"), step("Abs", {name + "2"}, {"y"}, name)},
                input,
                kY};
    graph.name = name;
    return model(graph);
}

std::string manyInputs(std::size_t count) {
    Graph graph{{step("Sum", {}, {"y"}, "sum")}, {}, kY};
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = "in" + std::to_string(i);
        graph.inputs.push_back(valueInfo(name, 1, {2}));
        graph.nodes.front().inputs.push_back(name);
    }
    return model(graph);
}

std::string nested(int levels) {
    std::string path;
    for (int i = 0; i < levels; ++i) path += "/level" + std::to_string(i);
    return model({{step("Relu", {"x"}, {"a"}, path + "/Relu"), step("Neg", {"a"}, {"y"}, path + "/Neg")}, kX, kY});
}

std::string cycle() {
    return model({{step("Relu", {"b"}, {"a"}, "one"), step("Neg", {"a"}, {"b"}, "two")}, kX, {valueInfo("b", 1, {2})}});
}

}  // namespace

class TestHostile : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }
    void drawn_data();
    void drawn();
    void toldWhyNot_data();
    void toldWhyNot();
    void theLastPictureStaysWhenAFileCannotBeRead();

  private:
    QString made(const std::string& bytes) {
        const QString path = m_folder.filePath(QStringLiteral("hostile.onnx"));
        return write(path, bytes) ? path : QString();
    }
    int rowsOfTree() {
        return qobject_cast<panels::ModuleTreePanel*>(m_window->docks().panel(QStringLiteral("modules")))
            ->view()
            ->model()
            ->rowCount();
    }
    int rowsOfTable() {
        return qobject_cast<panels::NodeTablePanel*>(m_window->docks().panel(QStringLiteral("nodes")))
            ->view()
            ->model()
            ->rowCount();
    }
    QTemporaryDir m_folder;
};

void TestHostile::drawn_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("operations");
    const auto row = [](const char* name, const std::string& bytes, int operations) {
        QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())) << operations;
    };
    row("10,000 inputs of a node", manyInputs(10'000), 1);
    row("name of 10 kB", named(std::string(10'000, 'n')), 3);
    row("name of 10 kB in words", named([] {
            std::string words;
            while (words.size() < 10'000) words += "word ";
            return words;
        }()),
        3);
    row("names with 3,000 dots", named([] {
            std::string dots;
            while (dots.size() < 6'000) dots += "a.";
            return dots;
        }()),
        3);
    row("empty names", model({{step("Relu", {"x"}, {"a"}, ""), step("Neg", {"a"}, {"y"}, "")}, kX, kY}), 2);
    row("empty modules",
        model({{step("Relu", {"x"}, {"a"}, "////Relu"), step("Neg", {"a"}, {"y"}, "/ / /Neg")}, kX, kY}), 2);
    row("emoji", named("\U0001F9E0\U0001F525\U0001F468\u200d\U0001F469\u200d\U0001F467\U0001F1EA\U0001F1FA"), 3);
    row("right to left", named("\u0634\u0628\u0643\u0629 \u05d0\u05d1"), 3);
    row("direction overridden", named("\u202eesrever\u202c\u2066\u2067x"), 3);
    row("combining characters",
        named("a\u0301\u0302\u0303\u0304e\u0308\u0323" +
              [] {
                  std::string marks;
                  for (int i = 0; i < 500; ++i) marks += "\u0336";
                  return marks;
              }()),
        3);
    row("line ends", named("a\nb\r\nc\td\u2028e\u2029f"), 3);
    row("control characters", named(std::string("\0\x01\x07\x1b[31m\x7f", 9)), 3);
    row("no text", named("\xff\xfe\xc0 broken"), 3);
    row("markup", named("<b onclick='x'>&amp;\"</b><img src=x>"), 3);
    row("100 levels", nested(100), 2);
}

void TestHostile::drawn() {
    QFETCH(QByteArray, bytes);
    QFETCH(int, operations);
    QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
    m_window->open(made(bytes.toStdString()));
    QTRY_VERIFY_WITH_TIMEOUT(context().loader().state() != context::LoadState::Loading && !context().isBusy(), 60000);
    QVERIFY2(context().model().isOpen(), qPrintable(m_window->banner()->text()));
    settle();
    QVERIFY(canvas()->view().scene());
    QVERIFY(!canvas()->view().scene()->items.empty());
    QVERIFY(rowsOfTree() > 0);
    QVERIFY(rowsOfTable() > operations);
    for (const layout::Direction direction : {layout::Direction::TopDown, layout::Direction::LeftRight}) {
        context().canvases().active().setDirection(direction);
        context().canvases().active().expandToDepth(1000);
        settle();
        const auto& items = canvas()->view().scene()->items;
        const auto shown = std::count_if(items.begin(), items.end(), [](const layout::SceneItem& item) {
            return item.what.kind == layout::ItemKind::Expr;
        });
        QCOMPARE(shown, operations);
        for (const double factor : {1.0, 0.2, 25.0}) {
            canvas()->view().zoomBy(factor);
            settle();
            QVERIFY(!m_window->grab().isNull());
        }
    }
    // Everything that shows a name: details, watch list, search, the text of the picture.
    const auto& graph = context().model().graph();
    for (const char* query : {"op:Neg", "op:Sum"})
        for (const graph::NodeId found : find(query)) {
            context().navigation().navigateTo(found);
            context().points().setWatched(found, true);
            settle();
        }
    if (auto* more = m_window->findChild<QPushButton*>(QStringLiteral("moreInputs"));
        context().inputs().all().size() > 32) {
        QVERIFY(more && more->isVisibleTo(more->parentWidget()));
        QCOMPARE(more->text(), QStringLiteral("9,968 more inputs"));
        more->click();
        QCOMPARE(more->text(), QStringLiteral("9,936 more inputs"));
    } else {
        QVERIFY(more && !more->isVisibleTo(more->parentWidget()));
    }
    for (const char* panel : {"details", "watches", "nodes", "operators", "inputs", "log"}) {
        m_window->docks().show(QLatin1String(panel));
        QVERIFY(!m_window->grab().isNull());
    }
    QVERIFY(!canvas()->text().twin().isEmpty());
    QVERIFY(graph.scopeCount() > 0);
    run();
    QCOMPARE(m_window->width(), 1400);  // no name made the window wider
    for (const QSize size : {QSize(1, 1), QSize(200, 900), QSize(1600, 120), QSize(1400, 900)}) {
        m_window->resize(size);
        canvas()->navigation().fit();
        settle();
        QVERIFY(!m_window->grab().isNull());
    }
}

void TestHostile::toldWhyNot_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("word");
    const auto row = [](const char* name, const std::string& bytes, const char* word) {
        QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size()))
                            << QString::fromLatin1(word);
    };
    row("cycle", cycle(), "cycle");
    row("reads itself", model({{step("Relu", {"y"}, {"y"}, "one")}, kX, kY}), "cycle");
    row("no operator", model({{step("", {"x"}, {"y"}, "one")}, kX, kY}), "operator");
    row("no such value", model({{step("Relu", {"z"}, {"y"}, "one")}, kX, kY}), "z");
    const std::string long_(10'000, 'n');
    row("long name in the message", model({{step("Relu", {long_}, {"y"}, long_)}, kX, kY}), "nnn");
    row("cut off", nested(20).substr(0, 300), "");
    row("nothing", "", "empty");
}

void TestHostile::toldWhyNot() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, word);
    m_window->open(made(bytes.toStdString()));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->banner()->isVisible(), 30000);
    QVERIFY(!context().model().isOpen());
    QCOMPARE(m_window->banner()->severity(), widgets::Banner::Severity::Error);
    QVERIFY2(m_window->banner()->text().contains(word), qPrintable(m_window->banner()->text()));
    QVERIFY(m_window->banner()->height() < m_window->height() / 3);
    QCOMPARE(m_window->width(), 1400);
}

/// Opening something that cannot be read does not take away what is open.
void TestHostile::theLastPictureStaysWhenAFileCannotBeRead() {
    open(file("resnet18_slim.onnx"));
    const auto before = canvas()->view().scene();
    QVERIFY(before);
    m_window->open(made(cycle()));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->banner()->isVisible(), 30000);
    settle();
    QVERIFY(context().model().isOpen());
    QCOMPARE(canvas()->view().scene(), before);
}

QTEST_MAIN(TestHostile)

}  // namespace tst_hostile

#include "tst_hostile.moc"
