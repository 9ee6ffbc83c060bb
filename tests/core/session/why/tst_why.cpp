// Why an element has its value: hops, what is listed, receptive fields, and the commands. Values are worked by hand.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <set>

#include "core/session/debug_commands.h"
#include "core/session/explanations.h"
#include "core/session/why/place_text.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_network.h"

namespace tst_why {

using namespace sonde;
using session::DebugCommands;
using session::Session;
using session::why::Explanation;
using session::why::Place;
using tensor::Tensor;
namespace onnx = test::onnxfile;

namespace {

Tensor counting(const tensor::Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return Tensor::of<float>(shape, values);
}

struct Opened {
    QTemporaryDir folder;
    Session session;
    DebugCommands commands{session};

    explicit Opened(const std::string& bytes, Tensor x) {
        const QString path = folder.filePath(QStringLiteral("model.onnx"));
        if (!onnx::write(path, bytes) || !session.open(path.toStdString())) return;
        session.runs().giveValues({std::move(x)});
    }
    graph::NodeId node(const char* name) { return session.document()->graph->findNode(name); }
    std::string name(graph::NodeId id) { return session.document()->graph->node(id).name; }
    QJsonObject answer(std::string_view line) {
        return QJsonDocument::fromJson(QByteArray::fromStdString(commands.answer(line))).object();
    }
};

}  // namespace

class TestWhy : public QObject {
    Q_OBJECT

  private slots:
    /// -7 is the largest of [1, -7, 3]; without an index it is the one.
    void withoutAnIndexTheElementThatStandsOut() {
        const onnx::Graph graph{
            {{"Neg", {"x"}, {"y"}}}, {onnx::valueInfo("x", 1, {3})}, {onnx::valueInfo("y", 1, {3})}};
        Opened opened(onnx::model(graph), Tensor::of<float>({3}, {-1, 7, -3}));
        (void)opened.answer("run");
        for (const char* command : {"why y", "why y 4", "field y", "contributions y"}) {
            const QJsonObject answer = opened.answer(command);
            QCOMPARE(answer["node"].toString(), QString("y"));
            QCOMPARE(answer["index"].toArray(), (QJsonArray{1}));
        }
        QCOMPARE(opened.answer("why y")["value"].toDouble(), -7.0);
        const QJsonObject first = opened.answer("chain y")["chain"].toArray().at(0).toObject();
        QCOMPARE(first["index"].toArray(), (QJsonArray{1}));
        QCOMPARE(opened.answer("why y[0, 1]")["error"].toString(),
                 QString("the value has 1 dimension [3], not 2: the last element is [2]"));
    }
    void aProductLeadsBackToTheInput() {
        Opened opened(test::windowNetwork("r/1"), counting({1, 1, 6, 6}));
        opened.session.runs().run();
        // y = 1·63.5 + 2·81.5 + 3·171.5 + 4·189.5 of sums of 3x3 windows at (0,0), (0,2), (2,0), (2,2).
        const auto y = session::explain(opened.session, {opened.node("y"), {}, {0, 0}});
        QVERIFY2(y, y ? "" : y.error().text().c_str());
        QCOMPARE(y->value, 1499.0);
        QCOMPARE(y->formula, std::string("sum(w * x)"));
        QCOMPARE(*y->recombined, 1499.0);
        QCOMPARE(y->terms.size(), std::size_t{4});
        // The largest first.
        QCOMPARE(opened.name(y->terms[0].place.node), std::string("f"));
        QCOMPARE(y->terms[0].place.index, (std::vector<std::int64_t>{0, 3}));
        QCOMPARE(y->terms[0].weight, 4.0);
        QCOMPARE(y->terms[0].value, 189.5);
        QCOMPARE(opened.name(y->terms[0].weightPlace->node), std::string("w"));
        QCOMPARE(y->terms[0].weightPlace->index, (std::vector<std::int64_t>{3, 0}));
        // Hop by hop: the flattened, the activation, the window, the input.
        const auto f = session::explain(opened.session, y->terms[0].place);
        QVERIFY(f && f->terms.size() == 1);
        QCOMPARE(opened.name(f->terms[0].place.node), std::string("r/1"));
        const auto r = session::explain(opened.session, f->terms[0].place);
        QVERIFY(r && r->terms.size() == 1);
        QCOMPARE(r->formula, std::string("maximum(x, 0)"));
        QCOMPARE(r->withNumbers, std::string("maximum(189.5, 0)"));
        session::why::Options options;
        options.terms = 3;
        const auto c = session::explain(opened.session, r->terms[0].place, options);
        QVERIFY(c);
        QCOMPARE(c->formula, std::string("sum(w * x) + bias"));
        QCOMPARE(c->withNumbers, std::string("189 + 0.5"));
        QCOMPARE(c->termCount, std::size_t{10});
        QCOMPARE(c->terms.size(), std::size_t{3});
        QCOMPARE(c->terms[0].place.index, (std::vector<std::int64_t>{0, 0, 4, 4}));
        QCOMPARE(c->terms[0].value, 28.0);
        QCOMPARE(c->restCount(), std::size_t{7});
        QCOMPARE(c->restSum, 189.5 - 28 - 27 - 26);
        const auto x = session::explain(opened.session, c->terms[0].place);
        QVERIFY(x && x->terms.empty());
        QCOMPARE(x->note, std::string("an input of the model"));
    }

    void contributionsAreAtTheirPlaces() {
        Opened opened(test::windowNetwork("r/1"), counting({1, 1, 6, 6}));
        opened.session.runs().run();
        const auto c = session::explain(opened.session, {opened.node("c"), {}, {0, 0, 1, -1}});
        QVERIFY(c);
        QCOMPARE(c->place.index, (std::vector<std::int64_t>{0, 0, 1, 1}));
        const auto map = c->contributions(opened.node("x"));
        QVERIFY(map);
        QCOMPARE(map->shape(), (tensor::Shape{1, 1, 6, 6}));
        for (std::int64_t i = 0; i < 36; ++i) {
            const bool isInside = i / 6 >= 2 && i / 6 < 5 && i % 6 >= 2 && i % 6 < 5;
            QCOMPARE(map->toDouble(i), isInside ? static_cast<double>(i) : 0.0);
        }
        QVERIFY(!c->contributions(opened.node("w")));
        QCOMPARE(c->sources().size(), std::size_t{2});  // the image, and the bias
    }

    void theReceptiveFieldIsABoxOfTheInput() {
        Opened opened(test::windowNetwork("r/1"), counting({1, 1, 6, 6}));
        opened.session.runs().run();
        const auto one = session::receptiveField(opened.session, {opened.node("f"), {}, {0, 1}});
        QVERIFY2(one, one ? "" : one.error().text().c_str());
        QCOMPARE(one->inputs.size(), std::size_t{1});
        QCOMPARE(one->inputs[0].begin, (std::vector<std::int64_t>{0, 0, 0, 2}));
        QCOMPARE(one->inputs[0].end, (std::vector<std::int64_t>{1, 1, 3, 5}));
        QVERIFY(one->inputs[0].isExact);
        const auto all = session::receptiveField(opened.session, {opened.node("y"), {}, {0, 0}});
        QVERIFY(all);
        QCOMPARE(all->inputs[0].begin, (std::vector<std::int64_t>{0, 0, 0, 0}));
        QCOMPARE(all->inputs[0].end, (std::vector<std::int64_t>{1, 1, 5, 5}));
    }

    /// The middle one of three tensors that are joined has no corner of the result.
    void whatIsJoinedIsInTheField() {
        const onnx::Graph graph{{{"Neg", {"a"}, {"p"}},
                                 {"Abs", {"a"}, {"q"}},
                                 {"Relu", {"a"}, {"r"}},
                                 {"Concat", {"p", "q", "r"}, {"j"}},
                                 {"ReduceSum", {"j"}, {"s"}}},
                                {onnx::valueInfo("a", 1, {2, 3})},
                                {onnx::valueInfo("s", 1, {1, 1})},
                                {}};
        onnx::Graph joined = graph;
        joined.nodes[3].attributes.push_back(onnx::intAttribute("axis", 1));
        Opened opened(onnx::model(joined), counting({2, 3}));
        opened.session.runs().run();
        const auto field = session::receptiveField(opened.session, {opened.node("s"), {}, {0, 0}});
        QVERIFY2(field, field ? "" : field.error().text().c_str());
        std::set<std::string> names;
        for (const session::why::Box& box : field->nodes) names.insert(opened.name(box.node));
        QCOMPARE(names, (std::set<std::string>{"s", "j", "p", "q", "r", "a"}));
    }

    void theCommandAnswersByItsContract() {
        Opened opened(test::windowNetwork("r/1"), counting({1, 1, 6, 6}));
        QVERIFY(opened.answer("why y[0,0]").value("error").toString().contains("has not begun"));
        (void)opened.answer("run");
        const QJsonObject answer = opened.answer("why y[0, -1] 2");
        QCOMPARE(answer.value("state").toString(), QStringLiteral("finished"));
        QVERIFY(answer.contains("current"));
        QCOMPARE(answer.value("value").toDouble(), 1499.0);
        QCOMPARE(answer.value("formula").toString(), QStringLiteral("sum(w * x)"));
        const QJsonArray terms = answer.value("terms").toArray();
        QCOMPARE(terms.size(), 2);
        QCOMPARE(terms.at(0).toObject(), (QJsonObject{{"node", "f"},
                                                      {"index", QJsonArray{0, 3}},
                                                      {"weight", 4},
                                                      {"value", 189.5},
                                                      {"part", "x"},
                                                      {"weight_node", "w"},
                                                      {"weight_index", QJsonArray{3, 0}}}));
        QCOMPARE(answer.value("rest").toObject(), (QJsonObject{{"count", 2}, {"sum", 1499 - 4 * 189.5 - 3 * 171.5}}));
        QCOMPARE(opened.answer("why `r/1`[0,0,0,0]").value("value").toDouble(), 63.5);
        QCOMPARE(opened.answer("why r/1[0,0,0,0]").value("value").toDouble(), 63.5);
        QCOMPARE(opened.answer("why y").value("value").toDouble(), 1499.0);  // it has one element
        const QJsonObject input = opened.answer("why x[0,0,1,2]");
        QCOMPARE(input.value("note").toString(), QStringLiteral("an input of the model"));
        QCOMPARE(input.value("formula").toString(), QString());
        QVERIFY(input.value("terms").toArray().isEmpty());
        const QJsonObject box = opened.answer("field c[0,0,1,0]").value("field").toArray().at(0).toObject();
        QCOMPARE(box.value("node").toString(), QStringLiteral("x"));
        QCOMPARE(box.value("begin").toArray(), (QJsonArray{0, 0, 2, 0}));
        QCOMPARE(box.value("end").toArray(), (QJsonArray{1, 1, 5, 3}));
    }

    void errorsNameTheColumn_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<int>("column");
        QTest::addColumn<QString>("says");
        QTest::newRow("no node") << "why" << 4 << "name of a node is missing";
        QTest::newRow("unknown node") << "why  nowhere[0]" << 6 << "nowhere";
        QTest::newRow("no closing bracket") << "why y[0,0" << 10 << "closing bracket";
        QTest::newRow("no number") << "why y[0,a]" << 9 << "integer";
        QTest::newRow("no comma") << "why y[0 0]" << 9 << "','";
        QTest::newRow("too few") << "why y[0]" << 7 << "2 dimensions";
        QTest::newRow("out of bounds") << "why y[0,1]" << 7 << "out of bounds for axis 1";
        QTest::newRow("negative out of bounds") << "why y[-2,0]" << 7 << "index -2";
        QTest::newRow("something behind") << "why y[0,0] all" << 12 << "unexpected 'all'";
        QTest::newRow("no backtick") << "why `y[0,0]" << 5 << "backtick";
        QTest::newRow("empty index") << "why c[]" << 7 << "4 dimensions";
        QTest::newRow("field") << "field y[0,0] 3" << 14 << "unexpected";
    }
    void errorsNameTheColumn() {
        QFETCH(QString, line);
        QFETCH(int, column);
        QFETCH(QString, says);
        Opened opened(test::windowNetwork("r/1"), counting({1, 1, 6, 6}));
        (void)opened.answer("run");
        const QJsonObject answer = opened.answer(line.toStdString());
        QVERIFY2(answer.value("error").toString().contains(says), qPrintable(answer.value("error").toString()));
        QCOMPARE(answer.value("column").toInt(), column);
        QVERIFY(!answer.contains("terms"));
    }

    void operatorsWithoutARuleShowTheirInputs() {
        const onnx::Graph graph{
            {{"NonZero", {"x"}, {"d"}}}, {onnx::valueInfo("x", 1, {2, 2})}, {onnx::valueInfo("d", 7, {2, 3})}, {}};
        Opened opened(onnx::model(graph), counting({2, 2}));
        (void)opened.answer("run");
        const QJsonObject answer = opened.answer("why d[0,1]");
        QCOMPARE(answer.value("value").toDouble(), 1.0);
        QVERIFY(answer.value("note").toString().contains("NonZero does not declare"));
        QCOMPARE(answer.value("inputs").toArray(), (QJsonArray{"x"}));
        // Everything that it reads may reach it.
        const QJsonObject box = opened.answer("field d[0,1]").value("field").toArray().at(0).toObject();
        QCOMPARE(box.value("end").toArray(), (QJsonArray{2, 2}));
        QCOMPARE(box.value("exact").toBool(true), false);
    }

    void placesAreRead() {
        session::why::PlaceProblem problem;
        const auto place = session::why::readPlace("`a [0]\\``[ 1 , -2 ] 5", problem);
        QVERIFY(place);
        QCOMPARE(place->node, std::string("a [0]`"));
        QCOMPARE(place->index, (std::vector<std::int64_t>{1, -2}));
        QCOMPARE(place->rest, std::string_view("5"));
    }
};

QTEST_APPLESS_MAIN(TestWhy)

}  // namespace tst_why

#include "tst_why.moc"
