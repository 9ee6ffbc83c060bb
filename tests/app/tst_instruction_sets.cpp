// The loops of every instruction set that this processor has, each in a process of its own, against values of PyTorch.

#include <QProcess>
#include <QtTest>

#include "core/ops/kernels/float_kernels.h"

namespace tst_instruction_sets {

class TestInstructionSets : public QObject {
    Q_OBJECT

  private slots:
    void modelsAgreeWithPyTorch_data() {
        QTest::addColumn<QString>("kernels");
        QTest::addColumn<QString>("model");
        for (const auto isa :
             {sonde::ops::kernels::Isa::Baseline, sonde::ops::kernels::Isa::Avx2, sonde::ops::kernels::Isa::Avx512}) {
            const sonde::ops::kernels::FloatKernels* table = sonde::ops::kernels::floatKernels(isa);
            if (!table) continue;  // not on this processor
            for (const char* model :
                 {"resnet18_slim", "mobilenet_v3_small", "unet_small", "vit_small", "gpt_mini", "lstm_classifier"}) {
                QTest::addRow("%s, %s", model, table->name) << table->name << model;
            }
        }
    }
    void modelsAgreeWithPyTorch() {
        QFETCH(QString, kernels);
        QFETCH(QString, model);
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("SONDE_KERNELS", kernels);
        process.setProcessEnvironment(environment);
        const QString file = QStringLiteral(SONDE_TEST_DATA "/models/") + model;
        process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"), {"check", file + ".onnx", file + ".npz"});
        QVERIFY(process.waitForFinished(120'000));
        const QByteArray output = process.readAllStandardOutput() + process.readAllStandardError();
        QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0, output.right(2000));
        QVERIFY2(output.contains(" 0 failed"), output.right(2000));
    }
};

QTEST_GUILESS_MAIN(TestInstructionSets)

}  // namespace tst_instruction_sets

#include "tst_instruction_sets.moc"
