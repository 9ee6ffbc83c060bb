// What layers demand of the inputs of archives, whose files say nothing about them. Expected: the models' sources in
// shared/models/generate and the inputs in their .npz files.

#include <QDir>
#include <QtTest>

#include "core/analysis/demand.h"
#include "core/document/document.h"
#include "core/document/document_json.h"
#include "core/io/inputs/inputs.h"
#include "tests/support/reference_sets.h"

using namespace sonde;

class TestDemand : public QObject {
    Q_OBJECT

  private slots:
    void archives_data() {
        QTest::addColumn<QString>("type");
        QTest::newRow("resnet18_slim.trace.pt") << "float32[x.0,3,x.2,x.3]";        // Conv2d(3, …)
        QTest::newRow("resnet18_slim.script.pt") << "float32[x.0,3,x.2,x.3]";
        QTest::newRow("unet_small.frozen.pt") << "float32[image.0,3,image.2,image.3]";
        QTest::newRow("vit_small.script.pt") << "float32[x.0,3,32,32]";             // asserts its height and width
        QTest::newRow("lstm_classifier.trace.pt") << "int64[tokens.0,tokens.1]";    // Embedding, then LSTM on [N,L,E]
        QTest::newRow("lstm_classifier.script.pt") << "int64[tokens.0,tokens.1]";   // adds a batch where there is none
        QTest::newRow("gpt_mini.trace.pt") << "int64[idx.0,idx.1]";                 // size(1), and at most [B,T,C] behind Embedding
        QTest::newRow("gpt_mini.script.pt") << "int64[idx.0,idx.1]";
        QTest::newRow("shared_twice.trace.pt") << "float32";                        // Linear: any rank
        QTest::newRow("mlp_functional.trace.pt") << "?";                            // indexed before all else
    }
    void archives() {
        QFETCH(QString, type);
        const QString path = QDir(test::referenceModels()).filePath(QTest::currentDataTag());
        const auto document = document::open(path.toStdString());
        QVERIFY2(document.has_value(), qPrintable(path));
        const document::NamedNode& input = (*document)->inputs.front();
        QCOMPARE(QString::fromStdString((*document)->graph->node(input.node).type.text()), type);
        QCOMPARE(input.isDemanded, type != "?");
        const std::string json = document::documentJson(**document);
        QCOMPARE(json.find("\"demanded_inputs\":[\"" + input.name + "\"]") != std::string::npos, input.isDemanded);
    }

    /// What the file or the user says is no guess.
    void knownInputsStay() {
        const auto document = document::open("zoo:resnet18_slim");
        QVERIFY(document.has_value());
        QVERIFY(!(*document)->inputs.front().isDemanded);
    }

    /// Files may give any argument by name.
    void argumentsByNameSayNothing() {
        using graph::Argument;
        graph::InternalGraph graph;
        const graph::NodeId x = graph.addInput(graph.mainId(), "x", {}, "x");
        const auto add = [&](const char* domain, const char* op, graph::BodyId body, const std::string& name) {
            graph::Expr expr;
            expr.op = {domain, op, 0};
            expr.target = op;
            expr.body = body;
            expr.scope = graph.rootScope();
            if (body == graph.mainId()) expr.arguments = {Argument::of(tensor::Value::ofBool(true))};
            else expr.keywords = {{"self", Argument::of(x)}, {"dim", Argument::of(tensor::Value::ofInt(0))}};
            return graph.addExpr(std::move(expr), std::span(&name, 1));
        };
        const graph::ExprId branch = add("prim", "If", graph.mainId(), "y");
        const graph::BodyId same = graph.addBody(branch, "then"), other = graph.addBody(branch, "else");
        const graph::NodeId batch = graph.expr(add("aten", "unsqueeze", other, "batch")).outputs.front();
        graph.setResult(same, Argument::container(Argument::Kind::Tuple, {Argument::of(x)}));
        graph.setResult(other, Argument::container(Argument::Kind::Tuple, {Argument::of(batch)}));
        QVERIFY(analysis::demandInputTypes(graph).empty());
    }

    /// A layer may take a single sample where a batch is shown: the data decides.
    void guidesDoNotBindTheRank() {
        const tensor::TypeInfo wanted = tensor::TypeInfo::tensor(tensor::DType::Float32, std::vector<tensor::Dim>{{}, tensor::Dim::of(3), {}, {}});
        QVERIFY(io::makeInputs("#rand(0,1,3,8,8)", {{"x", wanted, true}}).has_value());
        QVERIFY(!io::makeInputs("#rand(0,1,3,8,8)", {{"x", wanted}}).has_value());
    }
};

QTEST_GUILESS_MAIN(TestDemand)
#include "tst_demand.moc"
