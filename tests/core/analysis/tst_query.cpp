// The query language on a small graph whose answers are counted by hand.

#include <QTest>

#include <limits>
#include <map>

#include "core/analysis/query/query.h"
#include "core/document/document.h"
#include "tests/bench/layout_graphs.h"

namespace tst_query {

using namespace sonde;
using namespace layout_graphs;
using analysis::Query;
using analysis::QueryProblem;

class TestQuery : public QObject {
    Q_OBJECT

    /// x -> conv1 (3x3, [N,64,56,56]) -> relu1 -> conv2 (1x1, group 2, [N,128,56,56]) -> relu2 -> add(relu2, conv1)
    std::shared_ptr<const InternalGraph> m_graph;

    static tensor::TypeInfo type(std::vector<std::int64_t> rest, tensor::DType dtype = tensor::DType::Float32) {
        std::vector<tensor::Dim> dims{tensor::Dim::named("N")};
        for (const std::int64_t dimSize : rest) dims.push_back(tensor::Dim::of(dimSize));
        return tensor::TypeInfo::tensor(dtype, std::move(dims));
    }

    QString names(const char* text) const {
        QueryProblem problem;
        const std::optional<Query> query = Query::parse(text, &problem);
        if (!query) return "error at " + QString::number(problem.at) + "+" + QString::number(problem.length);
        QStringList found;
        for (const NodeId node : query->run(*m_graph)) found << QString::fromStdString(m_graph->node(node).name);
        return found.join(' ');
    }

  private slots:
    void initTestCase() {
        GraphMaker m;
        const NodeId x = m.input("x");
        m.graph().setType(x, type({3, 224, 224}));
        m.enter("layer1", "Sequential");
        const NodeId conv1 = m.op("Conv", {x, m.constant("layer1.weight")}, "conv1");
        m.graph().setType(conv1, type({64, 56, 56}));
        m.graph().mutableExpr(m.graph().node(conv1).producer).attributes = {
            {"kernel_shape", std::vector<std::int64_t>{3, 3}}, {"group", std::int64_t{1}}};
        const NodeId relu1 = m.op("Relu", {conv1}, "relu1");
        m.graph().setType(relu1, type({64, 56, 56}));
        m.leave();
        m.enter("layer3", "Sequential");
        m.enter("0", "Block");
        const NodeId conv2 = m.op("Conv", {relu1}, "conv2");
        m.graph().setType(conv2, type({128, 56, 56}, tensor::DType::Float16));
        m.graph().mutableExpr(m.graph().node(conv2).producer).attributes = {
            {"kernel_shape", std::vector<std::int64_t>{1, 1}},
            {"group", std::int64_t{2}},
            {"auto_pad", std::string("SAME_UPPER")}};
        const NodeId relu2 = m.op("Relu", {conv2}, "relu2");
        m.leave();
        m.leave();
        const NodeId add = m.op("Add", {relu2, conv1}, "add");
        m_graph = m.done({add});
    }

    void finds_data() {
        QTest::addColumn<QString>("query");
        QTest::addColumn<QString>("nodes");
        const auto row = [](const char* query, const char* nodes) { QTest::newRow(query) << query << nodes; };
        row("conv", "conv1 conv2");
        row("CONV relu", "");  // both words, of one node
        row("conv or relu", "conv1 relu1 conv2 relu2");
        row("op:Conv", "conv1 conv2");
        row("op:Conv and shape:[*,64,*,*] and qualname:layer3.*", "");
        row("op:Conv and shape:[*,64,*,*] and qualname:layer1", "conv1");
        row("qualname:layer3.*", "conv2 relu2");
        row("qualname=layer3", "");
        row("qualname=layer3.0", "conv2 relu2");
        row("shape:[N,64,56,56]", "conv1 relu1");
        row("shape:[n,64,...]", "conv1 relu1");
        row("shape:[...,56]", "conv1 relu1 conv2");
        row("shape:[*,>64,56,56]", "conv2");
        row("shape:Nx64x56x56", "conv1 relu1");
        row("shape:224", "x");
        row("dtype:float16", "conv2");
        row("attr:kernel_shape=3", "conv1");
        row("attr:kernel_shape=[1,1]", "conv2");
        row("attr:group>1", "conv2");
        row("attr:auto_pad", "conv2");
        row("attr:auto_pad=same_upper", "conv2");
        row("not op:Relu and not op:Add and not is:input", "layer1.weight conv1 conv2");
        row("(op:Relu or op:Add) and not name:relu1", "relu2 add");
        row("/^conv[12]$/", "conv1 conv2");
        row("/^RELU\\d$/", "relu1 relu2");
        row("op:/^\\p{Lu}dd$/", "add");
        row("name:/(?-i:C)onv/", "");
        row("name:/\\d$/ not relu1", "conv1 conv2 relu2");
        row("#0", "x");
        row("readers>1", "conv1");
        row("readers:2", "conv1");
        row("consumers>1", "conv1");
        row("rank=4 and elements>100", "");  // N is not known
        row("inputs-of:add", "conv1 relu2");
        row("outputs-of:conv1", "relu1 add");
        row("near:relu1", "conv1 conv2");
        row("near:2:relu2", "relu1 conv2 add");
        row("upstream-of:relu1 and not is:input", "layer1.weight conv1");
        row("downstream-of:(op:Conv and attr:group=2)", "relu2 add");
        row("layer1.weight", "layer1.weight");
        row("weight or conv", "conv1 conv2");  // constants only if nothing else fits
        row("is:constant", "layer1.weight");
        row("is:output", "add");
        row("category:activation", "relu1 relu2");
        row("\"conv1\"", "conv1");
        row("", "");
        row("   ", "");
    }
    void finds() {
        QFETCH(QString, query);
        QFETCH(QString, nodes);
        QCOMPARE(names(query.toUtf8().constData()), nodes);
    }

    /// Numbers of values, and expressions of them (core/expression), counted by hand.
    void conditionsOfValues_data() {
        QTest::addColumn<QString>("query");
        QTest::addColumn<QString>("nodes");
        const auto row = [](const char* query, const char* nodes) { QTest::newRow(query) << query << nodes; };
        row("nan>0", "conv1");
        row("nan:>0", "conv1");
        row("nan=0", "relu1 conv2");
        row("inf!=0", "conv2");
        row("zeros>=0.5", "relu1");
        row("min<-2", "conv1");
        row("MAX=2", "relu1");
        row("mean<0", "conv1");
        row("std>1", "conv1");
        row("max<+2.5e0", "conv1 relu1");
        row("elements>=0.004k", "conv1 relu1");
        row("elements=2 and rank=1", "conv2");
        row("value:has_nan(x)", "conv1");
        row("value:(max(abs(x)) > 1.5)", "relu1 conv2");  // of NaN no
        row("value:max(x)>1.5", "relu1 conv2");
        row("value:\"x[0] == 1 and x[3] == 2\"", "relu1");
        row("value:(max > 1.5 and zeros < 0.5)", "conv2");
        row("value:(consumers == 2)", "conv1");
        row("value:x[3]==2", "relu1");  // conv2 has no such element
        row("value:x", "");             // no condition
        row("not value:has_nan(x) and op:Relu", "relu1 relu2");
        row("value:(dtype(x) == 'float16') or nan>0", "conv1 conv2");
    }
    void conditionsOfValues() {
        QFETCH(QString, query);
        QFETCH(QString, nodes);
        using tensor::Half;
        const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
        const std::map<std::string, tensor::Value> values{
            {"conv1", tensor::Tensor::of<float>({4}, {1, nan, -3, 0})},
            {"relu1", tensor::Tensor::of<float>({4}, {1, 0, 0, 2})},
            {"conv2", tensor::Tensor::of<Half>({2}, {Half(3), Half(inf)})}};
        analysis::QueryFacts facts;
        facts.value = [&](NodeId node) {
            const auto found = values.find(m_graph->node(node).name);
            return found == values.end() ? nullptr : &found->second;
        };
        QueryProblem problem;
        const std::optional<Query> parsed = Query::parse(query.toStdString(), &problem);
        QVERIFY2(parsed, problem.what.c_str());
        QStringList found;
        for (const NodeId node : parsed->run(*m_graph, facts))
            found << QString::fromStdString(m_graph->node(node).name);
        QCOMPARE(found.join(' '), nodes);
    }

    /// Letters of all scripts are alike in upper and lower case; '?' is one character, however many bytes it has.
    void ignoresCaseOfAllScripts() {
        GraphMaker m;
        const NodeId x = m.input("Größe");
        const NodeId y = m.op("Relu", {x}, "СЛОЙ_1");
        const NodeId z = m.op("Relu", {y}, "a😀b");
        const auto graph = m.done({z});
        const auto names = [&](const char* text) {
            QStringList found;
            for (const NodeId node : Query::parse(text)->run(*graph))
                found << QString::fromStdString(graph->node(node).name);
            return found.join(' ');
        };
        QCOMPARE(names("name:GRÖßE"), "Größe");
        QCOMPARE(names("слой"), "СЛОЙ_1");
        QCOMPARE(names("name=/слой_\\d/"), "СЛОЙ_1");
        QCOMPARE(names("name:gr??e"), "Größe");
        QCOMPARE(names("name:a?b"), "a😀b");
        QCOMPARE(names("name:*???b"), "");
        QCOMPARE(names("name:????????"), "");
    }

    void problemsPointAtThePlace_data() {
        QTest::addColumn<QString>("query");
        QTest::addColumn<int>("at");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* query, int at, const char* says) {
            QTest::newRow(query) << query << at << says;
        };
        row("op:Conv and", 11, "missing at the end");
        row("op:Conv and and x", 12, "on both sides");
        row("(op:Conv", 0, "unmatched '('");
        row("op:Conv)", 7, "unmatched ')'");
        row("op:(Conv", 3, "unmatched '('");
        row("relu or name:add(x", 16, "unmatched '('");
        row("x or ()", 5, "empty brackets");
        row("shpae:[1,2]", 0, "unknown field 'shpae'");
        row("shape:[1,2", 6, "unmatched '['");
        row("shape:[1,,2]", 9, "not a dimension");
        row("/(/", 0, "invalid regular expression: missing )");
        row("add name:/a(?=d)/", 9, "invalid regular expression: ");
        row("/abc", 0, "unmatched '/'");
        row("readers>many", 8, "number");
        row("bytes>4x", 7, "unit");
        row("op:", 0, "needs a value");
        row("op>3", 0, "has no order");
        row("is:pretty", 3, "does not accept");
        row("near:", 5, "a node or a condition");
        row("\"abc", 0, "quote");
        row("#x", 0, "number");
        row("value:", 0, "needs a value");
        row("value>3", 0, "has no order");
        row("op:Conv value:(max(x) >", 23, "is expected");
        row("value:(größe > $)", 17, "'$' is not expected");
        row("value:(max(y) > 0)", 11, "unknown name 'y'");
        row("value:relu(x)", 6, "'relu' is not defined");
        row("value:\"x", 6, "unmatched quote");
    }
    void problemsPointAtThePlace() {
        QFETCH(QString, query);
        QFETCH(int, at);
        QFETCH(QString, says);
        QueryProblem problem;
        QVERIFY(!Query::parse(query.toStdString(), &problem));
        QVERIFY2(QString::fromStdString(problem.what).contains(says), problem.what.c_str());
        QCOMPARE(static_cast<int>(problem.at), at);
        QVERIFY(problem.at + problem.length <= query.toStdString().size());
    }

    void hostileTextsEnd() {
        QVERIFY(!Query::parse(std::string(100'000, '(')));
        QVERIFY(!Query::parse(std::string(3000, '(')));
        std::string nots;
        for (int i = 0; i < 700; ++i) nots += "not ";
        QVERIFY(!Query::parse(nots + "x"));
        const std::optional<Query> slow = Query::parse("/(a+)+$/");
        QVERIFY(slow);
        GraphMaker m;
        const NodeId long1 = m.op("Relu", {m.input("x")}, std::string(3000, 'a') + "b");
        const auto graph = m.done({long1});
        QVERIFY(slow->run(*graph).empty());
        const std::optional<Query> stars = Query::parse("name:*a*a*a*a*a*a*c");
        QVERIFY(stars->run(*graph).empty());
    }

    void aHundredThousandNodes() {
        const auto graph = transformer(3400);  // about 100,000 operations
        const std::optional<Query> query =
            Query::parse("op:MatMul and qualname:layers.1*.attn* and upstream-of:op:Softmax");
        QVERIFY(query);
        const std::size_t count = query->run(*graph).size();
        QVERIFY(count > 1000);
    }
};

QTEST_GUILESS_MAIN(TestQuery)

}  // namespace tst_query

#include "tst_query.moc"
