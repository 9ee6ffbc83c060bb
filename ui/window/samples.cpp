#include "ui/window/samples.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

namespace sonde::window {

QString resourcePath(const QString& relative) {
    const QDir program(QCoreApplication::applicationDirPath());
    const QStringList roots{
        program.filePath(QStringLiteral("../share/sonde")),
        program.filePath(QStringLiteral("../../../resources")),
        program.filePath(QStringLiteral("../../../../resources")),
    };
    for (const QString& root : roots) {
        const QFileInfo file(root + QLatin1Char('/') + relative);
        if (file.exists()) return file.canonicalFilePath();
    }
    return {};
}

std::vector<Sample> samples() {
    std::vector<Sample> all{
        {QCoreApplication::translate("Samples", "ResNet-18 on a photograph"),
         QCoreApplication::translate("Samples", "The built-in ResNet-18 on a photograph of a cat"),
         QStringLiteral("zoo:resnet18"), resourcePath(QStringLiteral("samples/chelsea.png")),
         QStringLiteral("imagenet")},
        {QCoreApplication::translate("Samples", "Text direction on a line of text"),
         QCoreApplication::translate("Samples", "A trained classifier that detects upside-down text"),
         resourcePath(QStringLiteral("samples/ch_ppocr_mobile_v2.0_cls_infer.onnx")),
         resourcePath(QStringLiteral("samples/text-line-upside-down.png")), QStringLiteral("signed")},
        {QCoreApplication::translate("Samples", "Find the NaN"),
         QCoreApplication::translate("Samples", "A model with a mistake that gives NaN; the help shows how to find it"),
         resourcePath(QStringLiteral("demos/find-the-nan.onnx")),
         resourcePath(QStringLiteral("demos/find-the-nan.npy")), QString()},
    };
    std::erase_if(all, [](const Sample& sample) { return sample.model.isEmpty() || sample.picture.isEmpty(); });
    return all;
}

}  // namespace sonde::window
