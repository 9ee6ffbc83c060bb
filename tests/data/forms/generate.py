"""Writes forms.onnx and forms.trace.pt: layers that PyTorch's exporter writes in operators of other names.

Run with Debian's PyTorch 1.13, in this folder.
"""

import torch
import torch.nn.functional as functional


class Forms(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 4, 3)
        self.norm = torch.nn.InstanceNorm2d(4)
        self.scale = torch.nn.Parameter(torch.rand(4))

    def forward(self, x):
        y = self.norm(self.conv(torch.flip(x, [3])))
        a, b = torch.unbind(functional.normalize(y.mean(3), dim=1), 2)
        return torch.addcmul(a, torch.tanh(b), self.scale, value=0.5)


torch.manual_seed(0)
model, x = Forms().eval(), torch.randn(1, 2, 4, 6)
torch.onnx.export(model, x, "forms.onnx", opset_version=13, input_names=["x"], output_names=["y"])
torch.jit.trace(model, x).save("forms.trace.pt")
