// Materials of surfaces.
import * as THREE from 'three';

// The same light without shadows, in as few operations as possible: without a graphics card each costs.
export function makeLeanMaterial(): THREE.ShaderMaterial {
  return new THREE.ShaderMaterial({
    vertexColors: true,
    side: THREE.DoubleSide,
    polygonOffsetFactor: 1,
    polygonOffsetUnits: 1,
    uniforms: { lamp: { value: new THREE.Vector3(0, 0, 1) }, above: { value: new THREE.Vector3(0, 1, 0) } },
    vertexShader: `
      varying vec3 shade;
      varying vec3 n;
      void main() {
        shade = color;
        n = normal;
        gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
      }`,
    fragmentShader: `
      uniform vec3 lamp;
      uniform vec3 above;
      varying vec3 shade;
      varying vec3 n;
      void main() {
        vec3 m = n * inversesqrt(dot(n, n) + 1e-20);
        if (!gl_FrontFacing) m = -m;
        vec3 light = mix(vec3(0.155, 0.148, 0.133), vec3(0.49, 0.51, 0.54), 0.5 * dot(m, above) + 0.5)
                   + max(dot(m, lamp), 0.0) * vec3(0.67, 0.62, 0.55);
        // The root stands for the curve of sRGB.
        gl_FragColor = vec4(sqrt(shade * light), 1.0);
      }`,
  });
}
