// Dumps opened as models. Values are worked by hand: of x the small dump computes product = x · (1, 2, 3, 4) and
// sum = product + x.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "core/base/mapped_file.h"
#include "core/document/document.h"
#include "core/document/test_cases.h"
#include "core/io/npz/npz.h"
#include "core/session/session.h"
#include "tests/support/small_dump.h"

namespace tst_dump_document {

using namespace sonde;
using session::Session;
using tensor::Tensor;

namespace {

Tensor row(std::vector<float> values) { return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values); }

std::string errorOf(const base::Result<void>& result) { return result ? std::string() : result.error().text(); }

/// x [1,1,2,2] -> convolution with 2 -> norm with 1.5 and 1 -> relu: max(3x + 1, 0).
document::Document normedDocument() {
    test::Maker maker;
    document::Document document;
    const auto x = maker.floats("x", {1, 1, 2, 2});
    const auto number = [&maker](const char* name, float value) {
        return maker.constant(name, Tensor::of<float>({1}, {value}));
    };
    const auto weight = maker.constant("weight", Tensor::of<float>({1, 1, 1, 1}, {2}));
    const auto ones = test::list({test::arg(1), test::arg(1)}), zeros = test::list({test::arg(0), test::arg(0)});
    const auto conv = maker.call("conv", "aten::conv2d", x, weight, test::none(), ones, zeros, ones, 1);
    const auto gamma = number("gamma", 3), beta = number("beta", 1), mean = number("mean", 0),
               spread = number("var", 4);
    const auto norm = maker.call("norm", "aten::batch_norm", conv, gamma, beta, mean, spread, false, 0.1, 0.0, false);
    const auto relu = maker.call("last", "aten::relu", norm);
    maker.result(relu);
    document.inputs.push_back({"x", x});
    document.outputs.push_back({"out", relu});
    document.graph = std::make_shared<graph::InternalGraph>(maker.graph);
    return document;
}

}  // namespace

class TestDumpDocument : public QObject {
    Q_OBJECT

  private slots:
    void itRunsOnNewInput_data() {
        QTest::addColumn<QStringList>("cases");
        QTest::newRow("no test cases") << QStringList();
        QTest::newRow("two test cases") << QStringList{"[1,2,3,4]", "#rand(0,1)"};
    }

    void itRunsOnNewInput() {
        QFETCH(QStringList, cases);
        std::vector<std::string> specs;
        for (const QString& each : cases) specs.push_back(each.toStdString());
        QCOMPARE(test::writeProductDump(path("a.dump"), specs), std::string());
        Session session;
        QCOMPARE(errorOf(session.open(path("a.dump"))), std::string());
        const document::Document& document = *session.document();
        QCOMPARE(document.format, std::string("dump"));
        QCOMPARE(document.inputs.size(), std::size_t(1));
        QCOMPARE(document.inputs[0].name, std::string("arg_0"));
        QCOMPARE(document.outputs.size(), std::size_t(1));
        QCOMPARE(document.outputs[0].name, std::string("ADD"));
        QCOMPARE(document.graph->inputs().size(), std::size_t(1));
        QVERIFY(document.graph->validate().has_value());
        for (const graph::ExprId id : document.graph->main().order)
            QVERIFY(document.graph->expr(id).op.name != "AssertEqual");

        const auto product = document.findNode("product");
        QVERIFY(product.has_value());
        session.setWatched(*product, true);
        session.runs().giveValues({row({10, 20, 30, 40})});
        session.runs().run();
        const auto& recording = session.runs().last().recording;
        QVERIFY(recording && !recording->error);
        QVERIFY(tensor::identical(recording->outputs.at(0).tensor(), row({20, 60, 120, 200})));
        QVERIFY(tensor::identical(recording->value(*product)->tensor(), row({10, 40, 90, 160})));
    }

    void itStopsAtEndPoints() {
        QCOMPARE(test::writeProductDump(path("a.dump"), {"[1,2,3,4]"}), std::string());
        Session session;
        QVERIFY(session.open(path("a.dump")));
        const auto product = *session.document()->findNode("product");
        session.setEnd(product, true);
        session.runs().giveValues({row({1, 1, 1, 1})});
        session.runs().run();
        const auto& recording = session.runs().last().recording;
        QVERIFY(recording && !recording->error);
        QVERIFY(tensor::identical(recording->outputs.at(0).tensor(), row({1, 2, 3, 4})));
        QVERIFY(!recording->computed(session.document()->outputs[0].node));
    }

    /// An input has the size of the model that was dumped; others may be given, of the same rank.
    void otherSizesAreTaken() {
        test::Maker maker;
        document::Document source;
        const auto x = maker.floats("x", {2, 3});
        maker.result(maker.call("y", "aten::neg", x));
        source.inputs.push_back({"x", x});
        source.graph = std::make_shared<graph::InternalGraph>(maker.graph);
        const auto dump = exporting::makeDump(source, {}, {});
        QVERIFY(dump && io::dump::writeDump(path("neg.dump"), *dump));
        Session session;
        QVERIFY(session.open(path("neg.dump")));
        const auto taken = session.readCases({"[[1,2],[3,4],[5,6]]"});
        QVERIFY2(taken.has_value(), taken ? "" : taken.error().text().c_str());
        QVERIFY(!session.readCases({"[1,2,3]"}).has_value());
    }

    /// What the model left open is found from its layers again: four numbers for a weight of [2,4].
    void openSizesAreThoseOfTheLayers() {
        test::Maker maker;
        document::Document source;
        const auto x = maker.input("x", tensor::TypeInfo::tensor(tensor::DType::Float32));
        const auto weight = maker.constant("weight", Tensor::of<float>({2, 4}, {1, 0, 0, 0, 0, 1, 0, 0}));
        maker.result(maker.call("y", "aten::linear", x, weight, test::none()));
        source.inputs.push_back({"x", x});
        source.graph = std::make_shared<graph::InternalGraph>(maker.graph);
        const auto dump = exporting::makeDump(source, {}, {});
        QVERIFY(dump && io::dump::writeDump(path("linear.dump"), *dump));
        Session session;
        QVERIFY(session.open(path("linear.dump")));
        session.runs().run();
        const auto& recording = session.runs().last().recording;
        QVERIFY2(recording && !recording->error,
                 recording && recording->error ? recording->error->text().c_str() : "no run");
        QCOMPARE(recording->outputs.at(0).tensor().shape().dims().back(), std::int64_t(2));
    }

    /// Scalar inputs are stored with one dimension; arrays of the model's reference have none.
    void aScalarIsOneElement() {
        test::Maker maker;
        document::Document source;
        const auto x = maker.floats("x", {});
        maker.result(maker.call("y", "aten::neg", x));
        source.inputs.push_back({"x", x});
        source.graph = std::make_shared<graph::InternalGraph>(maker.graph);
        const auto dump = exporting::makeDump(source, {}, {});
        QVERIFY(dump && io::dump::writeDump(path("scalar.dump"), *dump));
        const std::vector<io::NamedTensor> reference{{"in.arg_0", Tensor::scalar(3.0F)}, {"out.NEG", row({-3})}};
        QVERIFY(io::writeNpz(path("scalar.npz"), reference));
        Session session;
        QVERIFY(session.open(path("scalar.dump")));
        const auto found = session.check(path("scalar.npz"));
        QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
        QVERIFY(found->cases.size() == 1 && found->cases[0].values.size() == 1 && found->cases[0].ok());
    }

    /// An ONNX model may begin with an empty sequence and an optional.
    void constantsOfEveryKindAreStored() {
        test::Maker maker;
        const auto x = maker.floats("x", {2});
        const tensor::Value one(row({5}));
        const std::vector<tensor::Value> values{tensor::Value::sequence({}), tensor::Value::sequence({one, one}),
                                                tensor::Value::optional({}), tensor::Value::optional({one})};
        std::vector<graph::Argument> results{test::arg(maker.call("y", "aten::neg", x))};
        for (const tensor::Value& value : values) {
            graph::Expr expr;
            expr.kind = graph::ExprKind::Constant;
            const std::string name = "constant_" + std::to_string(results.size());
            const auto node = maker.graph.expr(maker.graph.addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
            maker.graph.setConstant(node, value);
            results.push_back(test::arg(node));
        }
        maker.result(test::tuple(results));
        io::dump::DumpFile dump;
        dump.graph = std::make_shared<graph::InternalGraph>(maker.graph);
        dump.outputNames = {"a", "b", "c", "d", "e"};
        const auto written = io::dump::writeDump(path("constants.dump"), dump);
        QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
        const auto document = document::open(path("constants.dump"));
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto& read = (*document)->graph->node((*document)->outputs[i + 1].node).constant;
            QVERIFY(read && read->kind() == values[i].kind() && read->items().size() == values[i].items().size());
            for (const tensor::Value& item : read->items()) QVERIFY(tensor::identical(item.tensor(), row({5})));
        }
    }

    void modulesAreThose() {
        QCOMPARE(test::writeProductDump(path("a.dump"), {}), std::string());
        const auto document = document::open(path("a.dump"));
        QVERIFY(document.has_value());
        const auto block = (*document)->modules->find("block");
        QVERIFY(block.has_value());
        QCOMPARE((*document)->modules->module(*block).moduleClass, std::string("Block"));
        const auto product = *(*document)->findNode("block:");
        QCOMPARE((*document)->graph->node(product).name, std::string("product"));
        document::OpenOptions flat;
        flat.flatten = true;
        const auto flattened = document::open(path("a.dump"), flat);
        QVERIFY(flattened && (*flattened)->graph->scopeOf((*flattened)->outputs[0].node).qualname.empty());
    }

    void itIsNotTracedAgain() {
        QCOMPARE(test::writeProductDump(path("a.dump"), {}), std::string());
        document::OpenOptions options;
        options.tracer = "custom";
        const auto refused = document::open(path("a.dump"), options);
        QVERIFY(!refused.has_value());
        QCOMPARE(refused.error().kind, base::ErrorKind::Usage);
    }

    void aReferenceIsComparedByNames() {
        QCOMPARE(test::writeProductDump(path("a.dump"), {"#rand(0,1)"}), std::string());
        const std::vector<io::NamedTensor> right{
            {"in.arg_0", row({1, 2, 3, 4})}, {"node.product", row({1, 4, 9, 16})}, {"out.ADD", row({2, 6, 12, 20})}};
        std::vector<io::NamedTensor> wrong = right;
        wrong[2].second = row({2, 6, 12, 21});
        QVERIFY(io::writeNpz(path("right.npz"), right) && io::writeNpz(path("wrong.npz"), wrong));
        Session session;
        QVERIFY(session.open(path("a.dump")));
        const auto found = session.check(path("right.npz"));
        QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
        QCOMPARE(found->cases.size(), std::size_t(1));
        QCOMPARE(found->cases[0].values.size(), std::size_t(2));
        QVERIFY(found->cases[0].ok());
        const auto differs = session.check(path("wrong.npz"));
        QVERIFY(differs && !differs->cases[0].ok());
    }

    /// The convolution computes what the norm did: its own name would promise the model's convolution.
    void aFusedConvolutionHasTheNameOfItsNorm() {
        const auto dump = exporting::makeDump(normedDocument(), {}, {});
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        QVERIFY(io::dump::writeDump(path("normed.dump"), *dump));
        Session session;
        QVERIFY(session.open(path("normed.dump")));
        QVERIFY(!session.document()->findNode("conv").has_value());
        const auto norm = session.document()->findNode("norm");
        QVERIFY(norm.has_value());
        session.setWatched(*norm, true);
        session.runs().giveValues({Tensor::of<float>({1, 1, 2, 2}, {0, 1, -1, 2})});
        session.runs().run();
        const auto& recording = session.runs().last().recording;
        QVERIFY(recording && !recording->error);
        QVERIFY(tensor::identical(recording->value(*norm)->tensor(), Tensor::of<float>({1, 1, 2, 2}, {1, 4, -2, 7})));
    }

    void testCasesAreReadBesideIt() {
        exporting::DumpOptions options;
        options.maxError = 0.25;
        QCOMPARE(test::writeProductDump(path("a.dump"), {"[1,2,3,4]", "[0,0,0,1]"}, options), std::string());
        const auto document = document::open(path("a.dump"));
        QVERIFY(document.has_value());
        const auto tests = document::readTestCases(**document);
        QVERIFY2(tests.has_value(), tests ? "" : tests.error().text().c_str());
        QCOMPARE(tests->cases.size(), std::size_t(2));
        QCOMPARE(tests->checks.size(), std::size_t(1));
        QCOMPARE(tests->checks[0].name, std::string("ADD"));
        QCOMPARE(tests->checks[0].maxError, 0.25);
        QCOMPARE(tests->checks[0].value, (*document)->outputs[0].node);
        const auto inputs = document::inputsOfCase(*tests->graph, tests->cases[1]);
        QVERIFY(inputs && inputs->size() == 2);
        // arg_0 and what is expected of it: 4 + 1 where x is 1.
        for (std::size_t i = 0; i < 2; ++i) {
            const bool isExpected = tests->graph->inputs()[i] == tests->checks[0].expected;
            QVERIFY(tensor::identical((*inputs)[i].tensor(), row({0, 0, 0, isExpected ? 5.0F : 1.0F})));
        }
    }

    /// The expected value of a float16 model is converted on its way to the check.
    void checksBehindCastsAreFound() {
        exporting::DumpOptions options;
        options.inference.ioc16 = true;
        options.maxError = 0.01;
        QCOMPARE(test::writeProductDump(path("half.dump"), {"[1,2,3,4]"}, options), std::string());
        const auto document = document::open(path("half.dump"));
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        QCOMPARE((*document)->inputs.size(), std::size_t(1));
        QCOMPARE((*document)->graph->inputs().size(), std::size_t(1));
        QVERIFY((*document)->graph->validate().has_value());
        const auto tests = document::readTestCases(**document);
        QVERIFY(tests && tests->checks.size() == 1);
        QCOMPARE(tests->graph->node(tests->checks[0].expected).name, std::string("ADD:expect"));
    }

    void aFileOfMegEngineIsNamed() {
        QFile file(QString::fromStdString(path("meg.mge")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray("mgbtest0\1\0\0\0mge2 and so on", 25));
        file.close();
        const auto refused = document::open(path("meg.mge"));
        QVERIFY(!refused.has_value());
        QVERIFY2(refused.error().text().find("a MegEngine test file") != std::string::npos,
                 refused.error().text().c_str());
    }

    void damagedFilesAreErrors() {
        QCOMPARE(test::writeProductDump(path("good.dump"), {"[1,2,3,4]"}), std::string());
        QFile file(QString::fromStdString(path("good.dump")));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray good = file.readAll();
        for (qsizetype i = 0; i < good.size(); i += 13) {
            for (const bool isCut : {true, false}) {
                QByteArray bad = isCut ? good.first(i) : good;
                if (!isCut) bad[i] = static_cast<char>(bad[i] ^ 0x15);
                QFile out(QString::fromStdString(path("bad.dump")));
                QVERIFY(out.open(QIODevice::WriteOnly | QIODevice::Truncate));
                out.write(bad);
                out.close();
                const auto opened = document::open(path("bad.dump"));
                if (isCut) QVERIFY(!opened.has_value());
                if (opened) (void)document::readTestCases(**opened);
            }
        }
    }

  private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }

    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestDumpDocument)

}  // namespace tst_dump_document

#include "tst_dump_document.moc"
