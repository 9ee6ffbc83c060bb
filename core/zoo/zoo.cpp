#include "core/zoo/zoo.h"

#include <algorithm>

#include "core/base/nearest.h"
#include "core/base/number_text.h"
#include "core/nn/initialize.h"
#include "core/zoo/autoencoder.h"
#include "core/zoo/bert.h"
#include "core/zoo/densenet.h"
#include "core/zoo/gpt.h"
#include "core/zoo/lstm_classifier.h"
#include "core/zoo/mobilenet.h"
#include "core/zoo/resnet.h"
#include "core/zoo/shufflenet.h"
#include "core/zoo/squeezenet.h"
#include "core/zoo/teaching_models.h"
#include "core/zoo/tracer_examples.h"
#include "core/zoo/unet.h"
#include "core/zoo/vgg.h"
#include "core/zoo/vision_transformer.h"

namespace sonde::zoo {

namespace {

std::vector<InputExample> image(std::int64_t size, const char* name = "x", std::int64_t batch = 1) {
    return {{name, tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{batch, 3, size, size})}};
}

std::vector<InputExample> input(const char* name, const tensor::Shape& shape,
                                tensor::DType dtype = tensor::DType::Float32) {
    return {{name, tensor::TypeInfo::tensor(dtype, shape)}};
}
std::vector<InputExample> tokens(const char* name, std::int64_t batch, std::int64_t length) {
    return input(name, {batch, length}, tensor::DType::Int64);
}
std::vector<InputExample> tokensAndMask(std::int64_t length) {
    return {tokens("input_ids", 1, length)[0], tokens("attention_mask", 1, length)[0]};
}

std::vector<Setting> classes(double usual = 1000) { return {{"classes", usual, 1, 65536}}; }
std::vector<Setting> classesAndWidth(double usualClasses = 1000, double usualWidth = 1) {
    return {{"classes", usualClasses, 1, 65536}, {"width", usualWidth, 0.05, 4, false}};
}

std::vector<Setting> vision(double imageSize, double patch, double layers, double heads, double dim, double mlp,
                            double classCount) {
    return {{"classes", classCount, 1, 65536},
            {"image", imageSize, 4, 1024},
            {"patch", patch, 1, 256},
            {"layers", layers, 1, 64},
            {"heads", heads, 1, 256},
            {"dim", dim, 1, 8192},
            {"mlp", mlp, 1, 32768}};
}
std::vector<Setting> language(double layers, double heads, double dim, double vocab, double positions) {
    return {{"layers", layers, 1, 96},
            {"heads", heads, 1, 256},
            {"dim", dim, 1, 16384},
            {"vocab", vocab, 2, 1e6},
            {"positions", positions, 1, 65536}};
}

}  // namespace

const std::vector<ModelEntry>& models() {
    static const std::vector<ModelEntry> table{
        {"resnet18",
         "ResNet-18, a residual network: 11.7 million parameters, 1000 classes",
         resnet18,
         image(224),
         classesAndWidth(),
         {},
         "ResNet-18"},
        {"resnet34",
         "ResNet-34: 21.8 million parameters, 1000 classes",
         resnet34,
         image(224),
         classesAndWidth(),
         {},
         "ResNet-34"},
        {"resnet50",
         "ResNet-50 with bottleneck blocks: 25.6 million parameters, 1000 classes",
         resnet50,
         image(224),
         classesAndWidth(),
         {},
         "ResNet-50"},
        {"resnet18_slim",
         "ResNet-18 with a quarter of the width: 0.7 million parameters, 100 classes",
         resnet18,
         image(64),
         classesAndWidth(100, 0.25),
         {},
         "ResNet-18"},
        {"mobilenet_v2",
         "MobileNetV2, inverted residual blocks: 3.5 million parameters, 1000 classes",
         mobilenetV2,
         image(224),
         classesAndWidth(),
         {},
         "MobileNetV2"},
        {"mobilenet_v3_small",
         "MobileNetV3-Small with squeeze-excitation: 2.5 million parameters, 1000 classes",
         mobilenetV3Small,
         image(224),
         classesAndWidth(),
         {},
         "MobileNetV3-Small"},
        {"squeezenet1_1",
         "SqueezeNet 1.1, fire modules: 1.2 million parameters, 1000 classes",
         squeezenet11,
         image(224),
         classesAndWidth(),
         {},
         "SqueezeNet 1.1"},
        {"densenet121",
         "DenseNet-121, each layer takes the outputs of all before it: 8.0 million parameters, 1000 classes",
         densenet121,
         image(224),
         classes(),
         {},
         "DenseNet-121"},
        {"vgg11",
         "VGG-11, plain convolutions and wide linear layers: 132.9 million parameters, 1000 classes",
         vgg11,
         image(224),
         classes(),
         {},
         "VGG-11"},
        {"shufflenet_v2_x0_5",
         "ShuffleNet V2 at half width, channel shuffle: 1.4 million parameters, 1000 classes",
         shufflenetV2Half,
         image(224),
         classes(),
         {},
         "ShuffleNet V2 at half width"},
        {"vit_b_16",
         "ViT-B/16, a transformer over 16x16 patches: 86.6 million parameters, 1000 classes",
         visionTransformer,
         image(224),
         vision(224, 16, 12, 12, 768, 3072, 1000),
         {},
         "Vision transformer"},
        {"vit_small",
         "Vision transformer for 32x32 images: 8x8 patches, 3 layers, 4 heads, width 64, 10 classes",
         visionTransformer,
         image(32, "x", 2),
         vision(32, 8, 3, 4, 64, 128, 10),
         {},
         "Vision transformer"},
        {"unet",
         "U-Net of four scales with transposed convolutions: 31.0 million parameters, 2 classes",
         unet,
         image(128, "image"),
         {{"classes", 2, 1, 4096}, {"width", 64, 1, 1024}},
         {},
         "U-Net of four scales"},
        {"unet_small",
         "U-Net of three scales, one enlarged by interpolation: 0.12 million parameters, 3 classes",
         unetSmall,
         image(64, "image"),
         {{"classes", 3, 1, 4096}, {"width", 8, 1, 1024}},
         {},
         "U-Net of three scales"},
        {"autoencoder",
         "Convolutional autoencoder for 28x28 images, with a code of 16 numbers",
         autoencoder,
         input("x", {1, 1, 28, 28}),
         {{"code", 16, 1, 4096}},
         {},
         "Convolutional autoencoder for 28x28 images"},
        {"lstm_classifier",
         "Embedding, two LSTM layers and mean pooling over 120 words, 5 classes",
         lstmClassifier,
         tokens("tokens", 2, 15),
         {{"classes", 5, 1, 65536}, {"vocab", 120, 1, 1e6}, {"dim", 24, 1, 8192}, {"hidden", 32, 1, 8192}},
         {},
         "Embedding, two LSTM layers and mean pooling"},
        {"gpt2",
         "GPT-2 small: 12 decoder layers of width 768, 124.4 million parameters",
         gpt2,
         tokens("input_ids", 1, 64),
         language(12, 12, 768, 50257, 1024),
         {},
         "GPT-2 decoder"},
        {"gpt_mini",
         "Decoder of two layers with the output tied to the embedding: 96 tokens, width 48",
         gptMini,
         tokens("idx", 1, 20),
         language(2, 4, 48, 96, 32),
         {},
         "Decoder with the output tied to the embedding"},
        {"bert_base",
         "BERT encoder of base size: 12 layers of width 768, 109.5 million parameters",
         bert,
         tokensAndMask(128),
         language(12, 12, 768, 30522, 512),
         {},
         "BERT encoder"},
        {"mlp_functional",
         "Functions instead of modules: arithmetic, slices, in-place updates; two results",
         mlpFunctional,
         input("x", {3, 12}),
         {}},
        {"shared_twice",
         "Modules called several times, one of them registered under two names",
         sharedTwice,
         input("x", {4, 12}),
         {}},
        {"nested_containers",
         "Lists, dictionaries and sequences of modules; buffers of many types; a dictionary as output",
         nestedContainers,
         image(20, "image"),
         {}},
        {"control_flow", "Branches and loops on the data", controlFlow, input("x", {3, 8}), {}},
        {"robust_nested",
         "Two inner modules that cannot be traced, in a model that can",
         robustNested,
         image(24, "image"),
         {}},
        {"seed", "x + 1 + 2", plusOnePlusTwo, input("x", {1}), {}},
        {"param_linear", "relu(linear(x + param))", paramAndLinear, input("x", {3, 4}), {}},
        {"blocks_net", "Two blocks of convolution and normalisation, and identity modules", blocksInNet, image(8), {}},
        {"two_forms",
         "One module called with two different structures of arguments",
         calledWithTwoForms,
         input("x", {2, 4}),
         {}},
        {"several_results", "Modules with two results", severalResults, input("a", {2, 4}), {}},
        {"block_alias",
         "A block with parameter, buffer and plain tensor, called under several names",
         blockWithAlias,
         input("x", {2, 4}),
         {}},
        {"flag", "A default value that selects a branch", flag, image(8), {}, "robust"},
        {"iterating",
         "A module that iterates over its input, which cannot be traced",
         iterating,
         input("input", {2, 4}),
         {}},
        {"branching", "A module in the middle that branches on its data", branching, input("x", {2, 4}), {}},
        {"keywords", "Parameters with defaults, one by keyword only", keywords, input("x", {2, 4}), {}, "robust"},
        {"in_place", "A copy changed in place", inPlace, input("x", {2, 4}), {}},
        {"item_assignment", "z = 2 x, z[0] = 5", itemAssignment, input("x", {2, 4}), {}, "custom"},
        {"slice_assignment",
         "Two columns of a copy, doubled in place",
         sliceAssignment,
         input("x", {2, 4}),
         {},
         "custom"},
        {"mask_assignment", "x[x != 0] = 2", maskAssignment, input("x", {2, 4}), {}, "custom"},
        {"conditional",
         "One of two functions, chosen by the sum; both are in the graph",
         conditional,
         input("x", {2, 4}),
         {},
         "custom"},
    };
    return table;
}

const ModelEntry* find(std::string_view name) {
    name = name.substr(0, name.find('?'));
    for (const ModelEntry& entry : models()) {
        if (entry.name == name) return &entry;
    }
    return nullptr;
}

namespace {

/// The entry of "resnet18?classes=10" and its settings.
struct Chosen {
    const ModelEntry* entry;
    Settings settings;
};

base::Result<Chosen> choose(std::string_view name) {
    const ModelEntry* entry = find(name);
    if (!entry) {
        std::vector<std::string> known;
        for (const ModelEntry& model : models()) known.emplace_back(model.name);
        const std::string wanted(name.substr(0, name.find('?')));
        std::string hint = base::didYouMean(wanted, known);
        if (hint.empty()) hint = "`sonde models` lists them";
        return base::unreadable("there is no built-in model '" + wanted + "'", {}, std::move(hint));
    }
    const std::size_t query = name.find('?');
    auto settings =
        Settings::parse(entry->settings, query == std::string_view::npos ? std::string_view{} : name.substr(query + 1));
    if (!settings) return std::move(settings).error().at("zoo:" + std::string(name));
    return Chosen{entry, std::move(*settings)};
}

bool has(const ModelEntry& entry, std::string_view setting) {
    return std::ranges::any_of(entry.settings, [setting](const Setting& known) { return known.name == setting; });
}

}  // namespace

base::Result<std::string> describe(std::string_view name) {
    SONDE_ASSIGN(const Chosen chosen, choose(name));
    bool isUsual = true;
    std::string settings;
    for (const Setting& setting : chosen.entry->settings) {
        const double value = chosen.settings.number(setting.name);
        isUsual = isUsual && value == setting.value;
        settings += (settings.empty() ? ": " : ", ") + std::string(setting.name) + ' ' +
                    (setting.whole ? std::to_string(chosen.settings.whole(setting.name)) : base::exactText(value));
    }
    return std::string(isUsual ? chosen.entry->description : chosen.entry->family) + (isUsual ? "" : settings);
}

base::Result<std::shared_ptr<nn::Module>> makeModel(std::string_view name, std::uint64_t seed) {
    SONDE_ASSIGN(const Chosen chosen, choose(name));
    try {
        std::shared_ptr<nn::Module> model = chosen.entry->make(chosen.settings);
        nn::initialize(*model, seed);
        model->setTraining(false);
        return model;
    } catch (const trace::TraceError& error) {
        return error.toError("zoo:" + std::string(name));
    }
}

base::Result<std::vector<InputExample>> inputsOf(std::string_view name) {
    SONDE_ASSIGN(const Chosen chosen, choose(name));
    std::vector<InputExample> inputs = chosen.entry->inputs;
    for (InputExample& input : inputs) {
        if (!input.type.shape) continue;
        std::vector<tensor::Dim>& shape = *input.type.shape;
        if (shape.size() == 4 && has(*chosen.entry, "image")) {
            shape[2] = shape[3] = tensor::Dim::of(chosen.settings.whole("image"));
        }
        if (shape.size() == 2 && has(*chosen.entry, "positions")) {
            shape[1] = tensor::Dim::of(std::min(shape[1].value, chosen.settings.whole("positions")));
        }
    }
    return inputs;
}

}  // namespace sonde::zoo
